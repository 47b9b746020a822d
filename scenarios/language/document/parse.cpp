// Text to located tree, by yaml-cpp's events: they say where anchors, tags and further documents are.
#include "scenarios/language/check/limits.h"
#include "scenarios/language/document/open_bracket.h"
#include "scenarios/language/document/tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

namespace pdsim::scenarios::language {
namespace {

struct Stop : std::exception {};  // reading on makes no sense; caught below

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
  }
  int count() const { return static_cast<int>(starts_.size()); }
  std::string_view line(int number) const {
    const std::size_t begin = starts_[static_cast<std::size_t>(number - 1)];
    const std::size_t end = number < count() ? starts_[static_cast<std::size_t>(number)] - 1 : text_.size();
    return text_.substr(begin, end - begin);
  }
  std::string_view whole() const { return text_; }
  std::string_view before(const Mark& mark) const {
    return text_.substr(0, starts_[static_cast<std::size_t>(mark.line - 1)] + static_cast<std::size_t>(mark.column - 1));
  }
  // yaml-cpp counts from 0, and has marks beside the text for what it does not know.
  Mark mark(const YAML::Mark& m, std::size_t width = 1) const {
    Mark out{std::clamp(m.line + 1, 1, count()), std::max(m.column + 1, 1), 1};
    out.column = std::min(out.column, static_cast<int>(line(out.line).size()) + 1);
    const int room = static_cast<int>(line(out.line).size()) + 1 - out.column;
    out.width = std::clamp(static_cast<int>(std::min<std::size_t>(width, 1'000'000)), 1, std::max(room, 1));
    return out;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

// Behind the quote that closes the text, which follows the opening `quote`; nothing where it goes on below the line.
std::optional<std::size_t> quote_end(std::string_view text, char quote) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return i + 1;
      ++i;
    }
  }
  return std::nullopt;
}

bool begins_with_quote(std::string_view text) { return !text.empty() && (text[0] == '\'' || text[0] == '"'); }

// Width of a scalar as it is written.
std::size_t written_width(std::string_view rest, const std::string& value) {
  if (rest.empty()) return 1;
  if (begins_with_quote(rest)) {
    const std::optional<std::size_t> end = quote_end(rest.substr(1), rest[0]);
    return end ? *end + 1 : rest.size();
  }
  return std::max<std::size_t>(1, std::min(value.size(), rest.size()));
}

class Reader : public YAML::EventHandler {
 public:
  Reader(const Lines& lines, Problems& problems) : lines_(lines), problems_(problems) {}

  bool done() const { return root_.has_value() && open_.empty(); }
  std::optional<Node> take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      stop(lines_.mark(mark, 3), "a second document begins here", "a scenario file has one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    Node node;
    node.mark = lines_.mark(mark, 4);
    if (!open_.empty() && open_.back().has_key) node.mark = open_.back().key_mark;
    const std::string_view rest = rest_of(mark);
    if (rest.substr(0, 4) == "null") node.mark = lines_.mark(mark, 4);
    if (rest.substr(0, 1) == "~") node.mark = lines_.mark(mark, 1);
    value(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(lines_.mark(mark, word_width(mark)), "an alias (`*name`)",
         "write out the value; for differences use variants with `set`");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check(mark, tag, anchor);
    if (tag == "!") check_quote(lines_.mark(mark));
    Node node;
    node.kind = Node::Kind::scalar;
    node.text = text;
    node.quoted = tag == "!";
    node.mark = lines_.mark(mark, written_width(rest_of(mark), text));
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) return key(std::move(node));
    value(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(Node::Kind::list, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(Node::Kind::map, mark);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    bool has_key = false;
    std::string key;
    Mark key_mark{};
    std::map<std::string, Mark> keys;
    bool drop = false;  // the key is a duplicate; its value is read and forgotten
  };

  [[noreturn]] void stop(const Mark& mark, std::string what, std::string label) {
    problems_.error(mark, std::move(what), std::move(label));
    throw Stop();
  }
  std::string_view rest_of(const YAML::Mark& mark) const {
    const Mark m = lines_.mark(mark);
    return lines_.line(m.line).substr(static_cast<std::size_t>(m.column - 1));
  }
  std::size_t word_width(const YAML::Mark& mark) const {
    const std::string_view rest = rest_of(mark);
    return std::max<std::size_t>(1, std::min(rest.size(), rest.find_first_of(" ,]}")));
  }
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (++values_ > limits::values)
      stop(lines_.mark(mark), fmt::format("the file has more than {} values", limits::values),
           "this is the limit of a scenario file");
    if (anchor != 0)
      problems_.error(lines_.mark(mark, word_width(mark)), "an anchor (`&name`)",
                      "write out the value; for differences use variants with `set`");
    if (!tag.empty() && tag != "?" && tag != "!")
      problems_.error(lines_.mark(mark, word_width(mark)), fmt::format("a tag (`{}`)", tag),
                      "the language has no tags; write the plain value");
  }
  // A quoted text goes on below its line only further in than its key (YAML 1.2, 7.3), which yaml-cpp does not ask for: a key that is
  // not further in is one of the file, which a missing quote would take into the text.
  void check_quote(const Mark& mark) {
    const std::string_view line = lines_.line(mark.line);
    std::string_view rest = line.substr(static_cast<std::size_t>(mark.column - 1));
    if (!begins_with_quote(rest)) return;
    const char quote = rest[0];
    if (quote_end(rest.substr(1), quote)) return;
    std::size_t outer = line.find_first_not_of("- ");  // of its key; of its dash where it is an entry; 0 where it stands alone
    if (const std::size_t dash = line.substr(0, outer).find('-'); outer + 1 == static_cast<std::size_t>(mark.column))
      outer = dash == std::string_view::npos ? 0 : dash;
    for (int n = mark.line + 1; n <= lines_.count(); ++n) {
      rest = lines_.line(n);
      const std::size_t inner = std::min(rest.size(), rest.find_first_not_of("- "));
      const std::string_view key = rest.substr(inner, rest.substr(inner).find(':'));
      if (inner <= outer && is_word(key) && inner + key.size() < rest.size())
        stop(mark, "a quote is never closed", fmt::format("the key `{}` in line {} would be part of this text", key, n));
      if (quote_end(rest, quote)) return;
    }
    stop(mark, "a quote is never closed", "the file ends before the closing quote");
  }
  void open(Node::Kind kind, const YAML::Mark& mark) {
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key)
      stop(lines_.mark(mark), "a key that is a list or a mapping", "keys are plain words; is a bracket not closed?");
    if (open_.size() >= static_cast<std::size_t>(limits::nesting))
      stop(lines_.mark(mark), fmt::format("nested more than {} levels deep", limits::nesting),
           "this is the limit of a scenario file");
    Open next;
    next.node.kind = kind;
    const std::string_view rest = rest_of(mark);
    next.node.mark = lines_.mark(mark);
    if (!rest.empty() && (rest[0] == '{' || rest[0] == '[')) {
      const std::size_t end = rest.find(rest[0] == '{' ? '}' : ']');
      next.node.mark.width = end == std::string_view::npos ? 1 : static_cast<int>(closing(rest) + 1);
    }
    open_.push_back(std::move(next));
  }
  // Where the bracket that opens `rest` closes, if on this line; else the end of the line. Good enough for a caret.
  static std::size_t closing(std::string_view rest) {
    int depth = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] == '{' || rest[i] == '[') ++depth;
      if ((rest[i] == '}' || rest[i] == ']') && --depth == 0) return i;
    }
    return rest.size() - 1;
  }
  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    value(std::move(node));
  }
  void key(Node node) {
    Open& map = open_.back();
    if (node.text == "<<" && !node.quoted)
      stop(node.mark, "a merge key (`<<`)", "write out the keys; for differences use variants with `set`");
    map.has_key = true;
    map.key = node.text;
    map.key_mark = node.mark;
    const auto [same, fresh] = map.keys.emplace(map.key, node.mark);
    map.drop = !fresh;
    if (map.drop)
      problems_.error(node.mark, fmt::format("duplicate key `{}`", map.key),
                      fmt::format("first used at line {}, column {}", same->second.line, same->second.column));
  }
  void value(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.has_key) stop(node.mark, "an empty key", "write a word before the colon");
    parent.has_key = false;
    if (!parent.drop) parent.node.entries.push_back({parent.key, parent.key_mark, std::move(node)});
  }

  const Lines& lines_;
  Problems& problems_;
  std::optional<Node> root_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  int documents_ = 0;
};

// A message of yaml-cpp's, and our advice.
struct Advice {
  std::string_view said, what, label;
};
constexpr std::array<Advice, 10> advices{{
    {"unknown token", "a character that cannot begin a value", "put the value in quotes"},
    {"end of map flow", "a `{` is never closed", "the file or the line ends before its `}`"},
    {"end of sequence flow", "a `[` is never closed", "the file or the line ends before its `]`"},
    {"end of map not found", "the indentation does not match",
     "align the keys of a mapping, with a space after the colon"},
    {"end of sequence not found", "the indentation does not match", "align the entries of a list, each with `- `"},
    {"EOF in scalar", "a quote is never closed", "the file ends before the closing quote"},
    {"illegal EOF", "the file ends in the middle of a value", "is it complete?"},
    {"illegal map value", "unexpected `: `; is a colon missing at the end of the line above?", "put values with `: ` in quotes; indent with spaces"},
    {"illegal block entry", "unexpected `- `; a list cannot begin here", "start each list entry on its own line"},
    {"the referenced anchor", "an alias (`*name`)", "write out the value; for differences use variants with `set`"},
}};

// A word alone on its line, perhaps of a list, with a key below it that is further in: YAML reads on over the end of
// the line, and complains about the second.
bool missing_colon(const Mark& mark, const Lines& lines, Problems& problems) {
  const std::string_view line = lines.line(mark.line);
  const std::size_t inner = std::min(line.size(), line.find_first_not_of(' '));
  const std::string_view key = line.substr(inner, line.substr(inner).find(':'));
  if (!is_word(key) || inner + key.size() == line.size()) return false;
  for (int above = mark.line - 1; above > 0; --above) {
    std::string_view word = lines.line(above);
    word = word.substr(0, word.find(" #"));
    const std::size_t end = word.find_last_not_of(" \r");
    const std::size_t outer = word.find_first_not_of(' ');
    if (end == std::string_view::npos || word[outer] == '#') continue;
    const std::size_t begin = std::min(end, word.find_first_not_of("- "));
    word = word.substr(begin, end + 1 - begin);
    if (!is_word(word) || outer >= inner) return false;
    problems.error({above, static_cast<int>(begin) + 1, static_cast<int>(word.size())},
                   fmt::format("`{}` has the key `{}` below it, but no colon", word, key),
                   fmt::format("is a colon missing after `{}`?", word));
    return true;
  }
  return false;
}

// A second `: ` on a line whose key has its value already, as in `summary: rank 0: saves`.
bool unquoted_colon(const YAML::Exception& e, const Mark& mark, const Lines& lines, Problems& problems) {
  if (e.msg.find("illegal map value") == std::string::npos) return false;
  const std::string_view line = lines.line(mark.line);
  const auto at = static_cast<std::size_t>(mark.column - 1);
  const std::size_t begin = std::min(line.size(), line.find_first_not_of("- "));
  const std::string_view key = line.substr(begin, line.substr(begin).find(": "));
  const std::size_t value = line.find_first_not_of(' ', begin + key.size() + 1);
  if (!is_word(key) || value == std::string_view::npos || value >= at || at > line.size()) return false;
  if (line[value] == '{' || line[value] == '[' || line[value] == '"' || line[value] == '\'') return false;
  problems.error(mark, fmt::format("a `: ` inside the value of `{}`", key), "put the whole value in quotes");
  return true;
}

// Where the bracket of an error at `mark` was opened: above it, or on the last line of a file without a newline.
Mark opening_of(char bracket, const Mark& mark, const Lines& lines) {
  const auto above = last_open_bracket(lines.before(mark), bracket);
  return above ? *above : last_open_bracket(lines.whole(), bracket).value_or(mark);
}

void syntax_error(const YAML::Exception& e, const Lines& lines, Problems& problems) {
  Mark mark = lines.mark(e.mark);
  if (unquoted_colon(e, mark, lines, problems) || missing_colon(mark, lines, problems)) return;
  std::string what = fmt::format("this is not YAML: {}", e.msg);
  std::string label = "expected a key, a value or a list entry";
  for (const Advice& advice : advices) {
    if (e.msg.find(advice.said) == std::string::npos) continue;
    what = advice.what;
    label = advice.label;
    if (what.ends_with("is never closed")) mark = opening_of(what[3], mark, lines);
    break;
  }
  if (lines.line(mark.line).find('\t') != std::string_view::npos) label = "use spaces, not tabs";
  problems.error(mark, std::move(what), std::move(label));
}

// Tabs where YAML wants spaces: in the indentation, or right after a key's colon or an entry's dash.
void check_tabs(const Lines& lines, Problems& problems) {
  for (int n = 1; n <= lines.count(); ++n) {
    const std::string_view line = lines.line(n);
    const std::size_t text = line.find_first_not_of(" \t");
    if (text == std::string_view::npos || line[text] == '#') continue;
    const std::size_t tab = line.find('\t');
    if (tab < text) problems.error({n, static_cast<int>(tab) + 1, 1}, "a tab in the indentation", "use spaces");
  }
}

bool check_bytes(std::string_view text, const Lines& lines, Problems& problems) {
  for (int n = 1; n <= lines.count(); ++n) {
    const std::string_view line = lines.line(n);
    for (std::size_t i = 0; i < line.size();) {
      const auto c = static_cast<unsigned char>(line[i]);
      const Mark here{n, static_cast<int>(i) + 1, 1};
      if ((c < 0x20 && c != '\t' && !(c == '\r' && i + 1 == line.size())) || c == 0x7f) {
        problems.error(here, fmt::format("a byte 0x{:02x} (control character)", c),
                       "a scenario file is plain text in UTF-8");
        return false;
      }
      const std::size_t length = c < 0x80                  ? 1
                                 : (c >= 0xc2 && c < 0xe0) ? 2
                                 : (c >= 0xe0 && c < 0xf0) ? 3
                                 : (c >= 0xf0 && c < 0xf5) ? 4
                                                           : 0;
      bool good = length > 0 && i + length <= line.size();
      for (std::size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(line[i + k]) & 0xc0) == 0x80;
      if (!good) {
        problems.error(here, fmt::format("a byte 0x{:02x} that is not UTF-8", c),
                       "a scenario file is plain text in UTF-8");
        return false;
      }
      i += length;
    }
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    problems.error({1, 1, 1}, "the file is empty", "a scenario begins with `pdsim: 1`");
    return false;
  }
  return true;
}

}  // namespace

std::optional<Node> parse(const std::string& text, Problems& problems) {
  const Lines lines(text);
  if (!check_bytes(text, lines, problems)) return std::nullopt;
  check_tabs(lines, problems);
  if (problems.any_error()) return std::nullopt;
  Reader reader(lines, problems);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(reader)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    syntax_error(e, lines, problems);
    return std::nullopt;
  } catch (const std::exception& e) {  // the rim of the library
    problems.error({1, 1, 1}, fmt::format("this is not YAML: {}", e.what()), "a scenario begins with `pdsim: 1`");
    return std::nullopt;
  }
  if (!reader.done()) {
    problems.error({1, 1, 1}, "the file holds only comments", "a scenario begins with `pdsim: 1`");
    return std::nullopt;
  }
  return reader.take();
}

}  // namespace pdsim::scenarios::language
