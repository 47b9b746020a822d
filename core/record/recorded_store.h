// A store whose calls are in the flight record: what a rank waits for in it, and what an earlier launch had left there.
//
//   calls    store_set, store_get, store_wait ... at layer store; the key (or the first of several) is the purpose
//   notes    store-read and store-wrote, with the launch in which the value was written, as far as `written_in` knows; also what
//            kept this rank from writing (`refused`), in a store that writes each key once
//   threads  as the store below it
#pragma once

#include "core/record/flight_record.h"
#include "core/store/store.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pdsim {

// The launch that wrote `value` under `key`; 0: not known.
using WrittenIn = std::function<int(std::string_view key, std::string_view value)>;

// `recorder` outlives the store. `launch` is the present one.
std::unique_ptr<Store> recorded_store(std::unique_ptr<Store> store, FlightRecorder& recorder, int launch,
                                      WrittenIn written_in);

}  // namespace pdsim
