// Kinds of notes that operations of scenarios take, beside those of core (core/group/flight_record.h).
#pragma once

#include <string_view>

namespace pdsim::scenarios::program_note {

constexpr std::string_view identity_claimed =
    "identity-claimed";                                    // rank, of, port, taken_by (empty: nobody), local (yes|no)
constexpr std::string_view store_opened = "store-opened";  // path: of init's store file
constexpr std::string_view port_taken = "port-taken";      // port, held_by: of a rank that wanted to listen there

}  // namespace pdsim::scenarios::program_note
