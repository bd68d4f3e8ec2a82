// apps/matrices/host_multiply.hpp - c = a b on the host, in tiles that threads can share out.
#pragma once

namespace matrices {

/// Row-major: a [rows x inner], b [inner x columns], c [rows x columns].
struct HostProduct {
    const float *a, *b;
    float* c;
    int rows, columns, inner;

    /// Of C.
    [[nodiscard]] unsigned tiles() const;
    /// Computes one of them. Threads: any, each tile once.
    void multiply(unsigned tile) const;
};

} // namespace matrices
