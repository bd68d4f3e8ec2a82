// tests/core/trace_svg_test.cpp - the Gantt chart of a trace: what is drawn where, and that it is XML.
#include <headrace/core/trace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;
    std::size_t parent;

    [[nodiscard]] double number(const std::string& attribute) const {
        return std::stod(attributes.at(attribute));
    }
};

/// As strict a reader of XML as pictures need: elements in the order of their begins, the first is the root.
class Xml {
public:
    explicit Xml(std::string_view text) : rest_(text) {
        expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        skip_space();
        element(0);
        skip_space();
        if (!rest_.empty()) throw std::runtime_error("something behind the end");
    }
    std::vector<Element> elements;

    [[nodiscard]] std::vector<Element> named(const std::string& name) const {
        std::vector<Element> found;
        std::ranges::copy_if(elements, std::back_inserter(found),
                             [&](const Element& each) { return each.name == name; });
        return found;
    }
    /// Bars of a style, each with its tip as text.
    [[nodiscard]] std::vector<Element> bars(const std::string& style) const {
        std::vector<Element> found;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const Element& title = elements[i];
            if (title.name != "title" || elements[title.parent].name != "rect") continue;
            Element bar = elements[title.parent];
            if (elements[bar.parent].attributes.at("class") != style) continue;
            bar.text = title.text;
            found.push_back(bar);
        }
        return found;
    }
    [[nodiscard]] bool says(const std::string& text) const {
        return std::ranges::any_of(elements, [&](const Element& each) { return each.text == text; });
    }
    [[nodiscard]] double height_of(const std::string& label) const {
        return std::ranges::find(elements, label, &Element::text)->number("y");
    }

private:
    void expect(std::string_view text) {
        if (!rest_.starts_with(text))
            throw std::runtime_error("no " + std::string(text) + " at " + std::string(rest_.substr(0, 40)));
        rest_.remove_prefix(text.size());
    }
    void skip_space() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
            rest_.remove_prefix(1);
    }
    std::string word() {
        std::size_t length = 0;
        while (length < rest_.size() &&
               (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '-'))
            ++length;
        std::string word(rest_.substr(0, length));
        rest_.remove_prefix(length);
        if (word.empty()) throw std::runtime_error("no name at " + std::string(rest_.substr(0, 40)));
        return word;
    }
    std::string characters(char until) {
        std::string text;
        while (!rest_.empty() && rest_.front() != until) {
            const char letter = rest_.front();
            if (letter == '<' || (static_cast<unsigned char>(letter) < 0x20 && letter != '\n'))
                throw std::runtime_error("a character that XML forbids");
            if (letter == '&') {
                const std::size_t end = rest_.find(';');
                static const std::map<std::string_view, char> known{
                    {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}};
                text += known.at(rest_.substr(1, end - 1));
                rest_.remove_prefix(end + 1);
            } else {
                text += letter;
                rest_.remove_prefix(1);
            }
        }
        return text;
    }
    void element(std::size_t parent) {
        expect("<");
        const std::size_t mine = elements.size();
        elements.push_back({word(), {}, {}, parent});
        for (skip_space(); !rest_.starts_with(">") && !rest_.starts_with("/>"); skip_space()) {
            const std::string name = word();
            expect("=\"");
            if (!elements[mine].attributes.emplace(name, characters('"')).second)
                throw std::runtime_error("an attribute twice");
            expect("\"");
        }
        if (rest_.starts_with("/>")) return rest_.remove_prefix(2);
        expect(">");
        while (true) {
            elements[mine].text += characters('<');
            if (rest_.starts_with("</")) break;
            element(mine);
        }
        expect("</" + elements[mine].name + ">");
    }

    std::string_view rest_;
};

/// Requests at made-up times.
class TraceSvg : public testing::Test {
protected:
    void add(std::string_view device, std::string_view unit, std::string_view name,
             std::chrono::nanoseconds begin, std::chrono::nanoseconds end, std::uint64_t bytes = 0,
             bool in_order = true) {
        Promise done;
        trace_.add({this, device, unit, in_order}, name, done.event(), {}, {.bytes = bytes});
        done.complete({start_ + begin, start_ + end});
    }

    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    Trace trace_;
};

TEST_F(TraceSvg, BarsLieWhereTheirTimesAre) {
    add("cuda:0", "to device", "film", 0ms, 20ms, 3 << 20);
    add("cuda:0", "kernels", "render", 20ms, 80ms);
    add("cuda:0", "from device", "film", 80ms, 90ms, 3 << 20);
    add("host", "writing", "write", 90ms, 100ms);
    const Xml svg(trace_.svg());
    const auto in = svg.bars("in"), work = svg.bars("work"), out = svg.bars("out"), host = svg.bars("host");
    ASSERT_EQ(in.size(), 1U);
    ASSERT_EQ(work.size(), 1U);
    ASSERT_EQ(out.size(), 1U);
    ASSERT_EQ(host.size(), 1U);
    const double scale = (work[0].number("x") - in[0].number("x")) / 20; // pixels per millisecond
    EXPECT_NEAR(in[0].number("width"), 20 * scale, 1.01);                // neighbours are a pixel apart
    EXPECT_NEAR(work[0].number("width"), 60 * scale, 1.01);
    EXPECT_NEAR(out[0].number("x") - in[0].number("x"), 80 * scale, 0.01);
    EXPECT_NEAR(host[0].number("x") - in[0].number("x"), 90 * scale, 0.01);
    EXPECT_EQ(work[0].text, "render\nat 20 ms, for 60 ms");
    EXPECT_EQ(in[0].text, "film\nat 0 ns, for 20 ms\n3 MiB");
    // Within a device work comes first, the host's lanes are below all.
    EXPECT_LT(work[0].number("y"), in[0].number("y"));
    EXPECT_LT(in[0].number("y"), out[0].number("y"));
    EXPECT_LT(out[0].number("y"), host[0].number("y"));
    EXPECT_TRUE(svg.says("4 requests in 100 ms"));
    EXPECT_TRUE(svg.says("time [ms]"));
}

TEST_F(TraceSvg, JobsLieAboveAndAreNoRequests) {
    add("cpu", "tasks", "a", 0ms, 30ms, 0, false);
    add("jobs", "jobs", "render", 0ms, 40ms, 0, false);
    const Xml svg(trace_.svg());
    ASSERT_EQ(svg.bars("job").size(), 1U);
    EXPECT_LT(svg.bars("job")[0].number("y"), svg.bars("work")[0].number("y"));
    EXPECT_TRUE(svg.says("1 requests in 40 ms"));
    EXPECT_TRUE(svg.says("25 %")) << "idle";
}

TEST_F(TraceSvg, ItemsOfAStreamLieAboveAndAreNoRequests) {
    add("cuda:0", "kernels", "a", 0ms, 30ms);
    add("stream", "cuda:0", "part 1 of 2 of item 0", 0ms, 40ms, 0, false);
    const Xml svg(trace_.svg());
    ASSERT_EQ(svg.bars("item").size(), 1U);
    EXPECT_LT(svg.bars("item")[0].number("y"), svg.bars("work")[0].number("y"));
    EXPECT_TRUE(svg.says("1 requests in 40 ms"));
    EXPECT_TRUE(svg.says("25 %")) << "idle";
}

TEST_F(TraceSvg, ACaptionLiesBelowTheRest) {
    add("cpu", "kernels", "a", 0ms, 30ms);
    const Xml without(trace_.svg()), with(trace_.svg("S < Se & \"fill\""));
    EXPECT_EQ(with.elements.size(), without.elements.size() + 1);
    EXPECT_GT(with.height_of("S < Se & \"fill\""), with.height_of("time [ms]"));
    EXPECT_LT(with.height_of("S < Se & \"fill\"") + 4, with.elements[0].number("height"));
}

TEST_F(TraceSvg, SaysHowLongADeviceComputedNothing) {
    add("cpu", "kernels", "a", 0ms, 30ms);
    add("cpu", "other streams", "b", 20ms, 40ms, 0, false); // overlaps a
    add("cpu", "to device", "c", 40ms, 100ms, 1);           // is no work
    add("cuda:0", "kernels", "d", 0ms, 100ms);
    const Xml svg(trace_.svg());
    EXPECT_TRUE(svg.says("60 %"));
    EXPECT_TRUE(svg.says("0 %"));
}

TEST_F(TraceSvg, RequestsThatOverlapHaveLinesOfTheirOwn) {
    add("cpu", "tasks", "a", 0ms, 60ms, 0, false);
    add("cpu", "tasks", "b", 50ms, 90ms, 0, false);
    add("cpu", "tasks", "c", 60ms, 100ms, 0, false); // where a was
    const auto bars = Xml(trace_.svg()).bars("work");
    ASSERT_EQ(bars.size(), 3U);
    EXPECT_EQ(bars[0].number("y"), bars[1].number("y"));
    EXPECT_EQ(bars[1].text.substr(0, 1), "c");
    EXPECT_GT(bars[2].number("y"), bars[0].number("y"));
}

TEST_F(TraceSvg, AsManyDevicesAsThereAreHaveRows) {
    for (int i = 0; i < 10; ++i)
        for (const char* unit : {"kernels", "to device", "from device"})
            add("cuda:" + std::to_string(i), unit, "x", i * 1ms, (i + 1) * 1ms);
    const Xml svg(trace_.svg());
    double last = 0;
    for (int i = 0; i < 10; ++i) {
        const double y = svg.height_of("cuda:" + std::to_string(i));
        EXPECT_GE(y, last + 3 * 12) << "device " << i << " lies on the one above";
        last = y;
    }
    EXPECT_LT(last + 3 * 12, svg.elements[0].number("height"));
}

TEST_F(TraceSvg, AHundredThousandRequestsMakeASmallPictureThatCountsThemAll) {
    constexpr int requests = 100'000;
    for (int i = 0; i < requests; ++i) {
        const std::string device = "cuda:" + std::to_string(i % 10);
        add(device, i % 3 == 0 ? "to device" : "tasks", "task", i * 10us, i * 10us + 25us, 0, false);
    }
    const std::string text = trace_.svg();
    EXPECT_LT(text.size(), 4U << 20);
    const Xml svg(text);
    int counted = 0;
    for (const char* style : {"work", "in"})
        for (const Element& bar : svg.bars(style)) {
            const auto more = bar.text.find(" and ");
            counted += more == std::string::npos ? 1 : 1 + std::stoi(bar.text.substr(more + 5));
        }
    EXPECT_EQ(counted, requests);
    EXPECT_TRUE(svg.says("100000 requests in 1 s")) << text.substr(0, 900);
}

TEST_F(TraceSvg, ManyAtTheSameTimeDoNotPileUp) {
    for (int i = 0; i < 5000; ++i) add("cpu", "tasks", "fed", 0ms, 10ms, 0, false);
    const auto bars = Xml(trace_.svg()).bars("work");
    EXPECT_EQ(bars.size(), 3U);
}

TEST_F(TraceSvg, ShortRequestsBesideLongOnesAreSeen) {
    add("cpu", "kernels", "long", 0s, 1s);
    add("cpu", "kernels", "short", 2s, 2s + 1us);
    add("cpu", "kernels", "long too", 3s, 4s);
    const auto bars = Xml(trace_.svg()).bars("work");
    ASSERT_EQ(bars.size(), 3U);
    EXPECT_GT(bars[1].number("width"), 0.4);
}

TEST_F(TraceSvg, AnyNameIsValidXml) {
    const std::string replaced = "\xEF\xBF\xBD";
    add("<dev & \"ice\">", "un]]>it", "µ <a> & \x01 \xFF \xC3", 0ms, 1ms);
    add("cpu", "kernels", "\xED\xA0\x80 \xC0\xAF", 1ms, 2ms); // a surrogate, and "/" in two bytes
    const Xml svg(trace_.svg());
    EXPECT_TRUE(svg.says("<dev & \"ice\">"));
    const auto bars = svg.bars("work");
    EXPECT_TRUE(bars.at(0).text.starts_with("µ <a> & " + replaced + " " + replaced + " " + replaced + "\n"));
    EXPECT_EQ(bars.at(1).text.find('\xC0'), std::string::npos);
    EXPECT_EQ(bars.at(1).text.find('\xED'), std::string::npos);
}

TEST_F(TraceSvg, RowsOfProcessesAreGrouped) {
    add("cpu", "kernels", "mine", 0ms, 30ms);
    const std::vector<std::byte> bytes = trace_.bytes();
    trace_.show_as({.number = 0, .name = "rank 0 on <a>"});
    trace_.add_process({.number = 1, .name = "rank 1 on b"}, bytes,
                       [](std::chrono::nanoseconds time) { return time + 30ms; });
    const Xml svg(trace_.svg());
    EXPECT_TRUE(svg.says("2 requests in 60 ms"));
    const auto bars = svg.bars("work");
    ASSERT_EQ(bars.size(), 2U);
    EXPECT_EQ(bars[0].text, "mine\nat 0 ns, for 30 ms");
    EXPECT_EQ(bars[1].text, "mine\nat 30 ms, for 30 ms");
    EXPECT_LT(svg.height_of("rank 0 on <a>"), bars[0].number("y"));
    EXPECT_LT(bars[0].number("y"), svg.height_of("rank 1 on b") - 10);
    EXPECT_LT(svg.height_of("rank 1 on b"), bars[1].number("y"));
    EXPECT_LT(bars[1].number("y") + 12, svg.elements[0].number("height"));
    EXPECT_TRUE(svg.says("50 %")) << "idle, of each";
}

TEST_F(TraceSvg, NothingIsAPictureToo) {
    EXPECT_TRUE(Xml(trace_.svg()).says("nothing ran"));
    add("cpu", "kernels", "in no time", 0ms, 0ms);
    EXPECT_EQ(Xml(trace_.svg()).bars("work").size(), 1U);
}

} // namespace
} // namespace headrace
