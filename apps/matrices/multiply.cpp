// apps/matrices/multiply.cpp - see multiply.hpp.
#include "matrices/multiply.hpp"
#include "matrices/multiply.kernels.hpp"
#include "matrices/multiply_opencl.hpp"

#include <string>

namespace matrices {
namespace {

using namespace headrace;

const Implementations<Multiply>& all_implementations() {
    static const Implementations<Multiply> all = [] {
        Implementations<Multiply> found = implementations<Multiply>();
        found.add({"opencl"}, on_opencl(opencl_for_gpus));
        found.add({"opencl", "cpu"}, on_opencl(opencl_for_processors));
        return found;
    }();
    return all;
}

std::string sizes(const Array<float>& matrix) {
    return matrix.name() + " is " + std::to_string(matrix.shape().rows) + " x " +
           std::to_string(matrix.shape().columns);
}

} // namespace

Event multiply(Controller& controller, const Array<float>& a, const Array<float>& b, Array<float>& c,
               int first, int last) {
    const Shape &left = a.shape(), &right = b.shape(), &product = c.shape();
    if (left.columns != right.rows || product.rows != left.rows || product.columns != right.columns)
        throw Error{ErrorKind::invalid_argument, "these matrices cannot be multiplied: " + sizes(a) + ", " +
                                                     sizes(b) + ", the product " + sizes(c)};
    return launch(controller, all_implementations(), rows(grid(product.rows, product.columns), first, last),
                  rows(a, first, last), b, rows(c, first, last));
}

Event multiply(Controller& controller, const Array<float>& a, const Array<float>& b, Array<float>& c) {
    return multiply(controller, a, b, c, 0, c.shape().rows);
}

} // namespace matrices
