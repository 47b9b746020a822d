// The fields of a flight record's structs by name, for the writers and readers of all its forms.
#pragma once

#include <string_view>
#include <tuple>

namespace pdsim {

template <class Of, class T>
struct Field {
  std::string_view name;  // in JSON
  T Of::*member;
};
template <class Of, class T>
Field(std::string_view, T Of::*) -> Field<Of, T>;

template <class T>
concept HasFields = requires {
  T::fields();
};

// Calls what(Field) for each field of T, in order.
template <class T, class What>
constexpr void for_each_field(What what) {
  std::apply([&](const auto&... field) { (what(field), ...); }, T::fields());
}

}  // namespace pdsim
