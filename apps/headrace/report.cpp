// apps/headrace/report.cpp - headrace report: a report, or two beside each other, to be looked at.
#include "commands.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"
#include "program/file_content.hpp"
#include "program/one_process.hpp"
#include "program/output_file.hpp"
#include "report_page.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace headrace_program {
namespace {

ReportJson read_json(const std::filesystem::path& file) {
    constexpr std::size_t most = std::size_t{1} << 30;
    const std::string text = program::file_content(file, most);
    ReportJson json = ReportJson::parse(text, nullptr, false);
    if (json.is_discarded())
        throw headrace::Error{headrace::ErrorKind::invalid_argument, file.string() + ": is no JSON"};
    return json;
}

} // namespace

int report(int argc, char** argv) {
    const std::string name = "headrace report";
    return program::exit_code_of(name, [&] {
        std::filesystem::path html, csv;
        std::vector<std::string> files, traces;
        program::CommandLine line(name,
                                  "Shows the --report of a program, or two beside each other: as a page for "
                                  "a browser, or as CSV.");
        line.example({"headrace-barnes-hut --plummer 10000 --steps 3 --report run.json",
                      "headrace report run.json --html run.html"});
        line.texts("--input", files, "FILE ...", "Reports; the word --input may be left out");
        line.texts("--trace", traces, "FILE ...", "Traces (--trace) of the same runs, for Gantt charts");
        line.output("--html", html, "One page that needs no other file");
        line.output("--csv", csv, "report,run,where,key,value");
        // Files that come first need no word before them.
        std::vector<char*> words{argv, argv + argc};
        std::string input = "--input";
        if (argc > 1 && *argv[1] != '-') words.insert(words.begin() + 1, input.data());
        line.parse(static_cast<int>(words.size()), words.data());
        if (program::is_spare_rank()) return;
        if (files.empty() || files.size() > 2) program::refuse("takes one or two reports; see --help");
        if (traces.size() > files.size()) program::refuse("--trace: there are more traces than reports");
        if (html.empty() && csv.empty()) program::refuse("takes --html FILE, --csv FILE, or both");
        std::vector<NamedReport> reports;
        for (std::size_t i = 0; i < files.size(); ++i)
            reports.push_back({files[i], read_json(files[i]),
                               i < traces.size() ? read_json(traces[i]) : ReportJson(nullptr)});
        try {
            if (!html.empty()) program::write_output(html, page_of(reports));
            if (!csv.empty()) program::write_output(csv, csv_of(reports));
        } catch (const ReportJson::exception& error) {
            throw headrace::Error{headrace::ErrorKind::invalid_argument,
                                  files.front() + ": has not the shape of a report: " + error.what()};
        }
    });
}

} // namespace headrace_program
