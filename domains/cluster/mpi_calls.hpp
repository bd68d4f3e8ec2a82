// domains/cluster/mpi_calls.hpp - errors of MPI, and requests of which any number is under way. For the MPI
// module.
#pragma once
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
    #include <mpi-ext.h> // of Open MPI: MPIX_ERR_PROC_FAILED since version 5
#endif

namespace headrace::cluster::mpi {

inline std::string text_of(int code) {
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "unknown error";
    text.resize(static_cast<std::size_t>(length));
    return text;
}

[[noreturn]] inline void fail(int code, std::string_view call) {
    throw Error{ErrorKind::device, std::string(call) + " failed: " + text_of(code)}.with_code(code);
}

inline void check(int code, std::string_view call) {
    if (code != MPI_SUCCESS) fail(code, call);
}

/// True if the peer of a call has ended. Without fault tolerance (ULFM) an MPI has no such error.
inline bool is_loss_of_peer([[maybe_unused]] int code) {
#ifdef MPIX_ERR_PROC_FAILED
    int kind = MPI_SUCCESS;
    return code != MPI_SUCCESS && MPI_Error_class(code, &kind) == MPI_SUCCESS && kind == MPIX_ERR_PROC_FAILED;
#else
    return false;
#endif
}

/// Requests that MPI works on, each with what must live until it is complete.
template <class Kept>
class Requests {
public:
    [[nodiscard]] bool empty() const noexcept { return requests_.empty(); }

    /// Whether `is_meant(kept)` holds for one of them.
    template <class IsMeant>
    [[nodiscard]] bool any_of(const IsMeant& is_meant) const {
        return std::ranges::any_of(kept_, is_meant);
    }

    void add(MPI_Request request, Kept kept) {
        requests_.push_back(request);
        kept_.push_back(std::move(kept));
    }

    /// Calls `ended(kept, code)` for each request that has ended since. Returns whether there was one.
    template <class Ended>
    bool test(Ended&& ended) {
        if (requests_.empty()) return false;
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
        int count = 0;
        const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                      indices_.data(), statuses_.data());
        if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) fail(code, "MPI_Testsome");
        if (count == MPI_UNDEFINED || count == 0) return false;
        std::vector<std::pair<Kept, int>> all_ended;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
            all_ended.emplace_back(std::move(kept_[static_cast<std::size_t>(indices_[i])]),
                                   code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : MPI_SUCCESS);
        std::size_t left = 0; // MPI has set the requests that ended to null
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL) continue;
            if (left != i) {
                requests_[left] = requests_[i];
                kept_[left] = std::move(kept_[i]);
            }
            ++left;
        }
        requests_.resize(left);
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(left), kept_.end());
        for (const auto& [kept, result] : all_ended) ended(kept, result); // last: it may throw
        return true;
    }

private:
    std::vector<MPI_Request> requests_;
    std::vector<Kept> kept_; ///< as many
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
};

} // namespace headrace::cluster::mpi
