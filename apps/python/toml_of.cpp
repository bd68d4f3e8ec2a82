// apps/python/toml_of.cpp - see toml_of.hpp.
#include "toml_of.hpp"

#include <headrace/core/error.hpp>

#include <cstdint>
#include <utility>

namespace py = pybind11;

namespace headrace::python {
namespace {

toml::array array_of(const py::sequence& sequence, const std::string& where);

/// Calls `add` with the value as a C++ type.
template <class Add>
void add_value(const py::handle& value, const std::string& where, const Add& add) {
    if (py::isinstance<py::bool_>(value)) {
        add(value.cast<bool>());
    } else if (PyIndex_Check(value.ptr()) != 0) {
        const py::object whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
        if (!whole) throw py::error_already_set();
        int is_beyond = 0;
        const std::int64_t number = PyLong_AsLongLongAndOverflow(whole.ptr(), &is_beyond);
        if (is_beyond != 0)
            throw Error{ErrorKind::invalid_argument, where + ": must be below 2^63, and not so far below 0"};
        add(number);
    } else if (py::isinstance<py::str>(value)) {
        add(value.cast<std::string>());
    } else if (py::isinstance<py::dict>(value)) {
        add(table_of(value.cast<py::dict>(), where));
    } else if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
        add(array_of(value.cast<py::sequence>(), where));
    } else if (PyFloat_Check(value.ptr()) != 0 || py::hasattr(value, "__float__")) {
        add(py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
    } else {
        throw Error{ErrorKind::invalid_argument,
                    where + ": must be a number, a string, a dict or a list, not " +
                        py::str(py::type::of(value).attr("__name__")).cast<std::string>()};
    }
}

toml::array array_of(const py::sequence& sequence, const std::string& where) {
    toml::array array;
    for (const py::handle& value : sequence)
        add_value(value, where, [&](auto element) { array.push_back(std::move(element)); });
    return array;
}

} // namespace

toml::table table_of(const py::dict& dict, const std::string& where) {
    toml::table table;
    for (const auto& [key, value] : dict) {
        if (!py::isinstance<py::str>(key))
            throw Error{ErrorKind::invalid_argument, where + ": keys are strings"};
        if (value.is_none()) continue;
        const auto name = key.cast<std::string>();
        std::string place = where;
        place.append(": key \"").append(name).append("\"");
        add_value(value, place, [&](auto element) { table.insert_or_assign(name, std::move(element)); });
    }
    return table;
}

} // namespace headrace::python
