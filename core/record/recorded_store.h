// A store that records its calls in the flight record: the keys a rank waits for, and the values left by an earlier launch.
//
//   calls    store_set, store_get, store_wait ... at layer store; the key (or the first of several) is the purpose
//   notes    store-read and store-wrote, with the launch in which the value was written, where `written_in` knows it; also the
//            value that kept this rank from writing (`refused`), in a store that writes each key once
//   threads  as the store below it
#pragma once

#include "core/record/flight_record.h"
#include "core/store/store.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pdsim {

// Returns the launch that wrote `value` under `key`; 0 if not known.
using WrittenIn = std::function<int(std::string_view key, std::string_view value)>;

// `recorder` must outlive the store. `launch` is the current one.
std::unique_ptr<Store> recorded_store(std::unique_ptr<Store> store, FlightRecorder& recorder, int launch,
                                      WrittenIn written_in);

}  // namespace pdsim
