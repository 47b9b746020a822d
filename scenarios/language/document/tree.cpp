#include "scenarios/language/document/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::language {
namespace {

constexpr std::size_t line_width = 100;

bool is_plain(const Node& node) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  const std::string& text = node.text;
  if (node.quoted || text.empty() || text == "null" || text == "~") return false;
  if (text[0] == '-' || text[0] == '+') return false;
  const bool spaces_inside = text.front() != ' ' && text.back() != ' ';
  return spaces_inside && std::all_of(text.begin(), text.end(),
                                      [&](char c) { return c == ' ' || safe.find(c) != std::string_view::npos; });
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string scalar_text(const Node& node) { return is_plain(node) ? node.text : quoted(node.text); }

std::string key_text(const std::string& key) {
  Node node;
  node.text = key;
  return is_plain(node) ? key : quoted(key);
}

void write_block(const Node& node, std::size_t indent, std::string& out);

// The value behind `key:` or `-`, on the same line where it fits.
void write_value(const Node& node, std::size_t indent, std::size_t used, bool block, std::string& out) {
  const std::string flat = emit_inline(node);
  const bool nested = (node.is_map() && !node.entries.empty()) || (node.is_list() && !node.items.empty());
  if (!nested || (!block && used + flat.size() + 1 <= line_width)) {
    out += " " + flat + "\n";
    return;
  }
  out += "\n";
  write_block(node, indent, out);
}

void write_block(const Node& node, std::size_t indent, std::string& out) {
  const std::string spaces(indent, ' ');
  for (const Entry& entry : node.entries) {
    const std::string head = spaces + key_text(entry.key) + ":";
    out += head;
    // Sections stand in blocks; what they hold stands on one line where it fits.
    write_value(entry.value, indent + 2, head.size(), indent == 0, out);
  }
  for (const Node& item : node.items) {
    const std::string flat = emit_inline(item);
    if (indent + 2 + flat.size() <= line_width || !(item.is_map() || item.is_list())) {
      out += fmt::format("{}- {}\n", spaces, flat);
      continue;
    }
    std::string block;
    write_block(item, indent + 2, block);
    out += fmt::format("{}- {}", spaces, std::string_view(block).substr(std::min(block.size(), indent + 2)));
  }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Node* Node::find(std::string_view key) {
  for (Entry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Mark span_of(const Entry& entry) {
  Mark mark = entry.mark;
  const Mark& end = entry.value.mark;
  if (end.line == mark.line && end.column > mark.column) mark.width = end.column + end.width - mark.column;
  return mark;
}

std::string emit_inline(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar:
      return scalar_text(node);
    case Node::Kind::list:
      for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + emit_inline(item);
      return "[" + out + "]";
    case Node::Kind::map:
      for (const Entry& entry : node.entries)
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key_text(entry.key), emit_inline(entry.value));
      return "{" + out + "}";
  }
  return out;
}

std::string emit(const Node& node) {
  std::string out;
  if (!node.is_map() && !node.is_list()) return emit_inline(node) + "\n";
  write_block(node, 0, out);
  return out;
}

}  // namespace pdsim::scenarios::language
