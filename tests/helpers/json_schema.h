// A JSON schema: of draft 2020-12 as much as pdsim's own schemas use.
#pragma once

#include <memory>
#include <string>

namespace pdsim {

class JsonSchema {
 public:
  explicit JsonSchema(const std::string& text);
  // Whether the schema at a JSON pointer, such as /$defs/list, takes a value, which is JSON. Throws where there is no such place, or no JSON.
  bool accepts(const std::string& pointer, const std::string& value) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace pdsim
