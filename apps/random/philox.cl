// apps/random/philox.cl - philox.hpp in OpenCL C: change both.

HR_FUNCTION uint4 philox4x32(uint4 counter, uint key0, uint key1) {
    for (int round = 0; round < 7; ++round) {
        const uint high0 = mul_hi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
        const uint high1 = mul_hi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
        counter = (uint4)(high1 ^ counter.y ^ key0, low1, high0 ^ counter.w ^ key1, low0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

HR_FUNCTION float uniform_of(uint word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }
