// The fields of a flight record's structs by name, for the writers and readers of all its forms. A struct has them in a function
//
//   static constexpr void fields(auto field) { field("rank", &Fault::rank), field("at", &Fault::at); }
//
// which is a template, so that the many files that include notes do not compile it.
#pragma once

#include <string_view>

namespace pdsim {

template <class Of, class T>
struct Field {
  std::string_view name;  // in JSON
  T Of::*member;
};

template <class T>
concept HasFields = requires {
  T::fields([](std::string_view, auto) {});
};

// Calls what(Field) for each field of T, in order.
template <class T, class What>
constexpr void for_each_field(What what) {
  T::fields([&what]<class Of, class Type>(std::string_view name, Type Of::*member) { what(Field<Of, Type>{name, member}); });
}

}  // namespace pdsim
