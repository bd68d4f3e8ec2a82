// persistent/opencl/append.cl - adds records to a domain under append access: domains/append.hpp in OpenCL C.
//
//     hr_append(__global T* records, ulong capacity, T record)
// The first two arguments are `task.memory(domain)` and `domain.size()`. hr_append is a macro, so T may be
// any type. The last argument should be a variable.

// The device's counter is on its own cache line after the records. It also counts records that do not fit.
HR_FUNCTION ulong hr_append_place(__global void* records, ulong record_bytes, ulong capacity) {
    const ulong offset = (capacity * record_bytes + 63) / 64 * 64;
    return hr_atomic_add_ulong((__global ulong*)((__global char*)records + offset), 1);
}
#define hr_append(records, capacity, record) \
    do { \
        const ulong hr_place = hr_append_place(records, sizeof(*(records)), capacity); \
        if (hr_place < (ulong)(capacity)) (records)[hr_place] = record; \
    } while (0)
