#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

absl::Status ExpandRecords(const Engine& engine, const std::vector<RecordChange>& changes, Orders& orders,
                           Writes& writes) {
  for (const RecordChange& change : changes) {
    const auto collection = static_cast<uint8_t>(change.collection);
    const std::string key = RecordKey(collection, change.key);
    std::optional<std::string>* before = nullptr;
    const std::pair name(change.collection, change.key);
    if (const auto it = orders.find(name); it != orders.end()) {
      before = &it->second;
    } else {
      std::string value;
      const absl::Status got = engine.Get(key, value);
      if (!got.ok() && !absl::IsNotFound(got) && !absl::IsDataLoss(got)) return got;
      // Of one that cannot be read the place in the second order stays: a look there passes it over.
      const std::optional<KeptRecord> kept = got.ok() ? ReadRecord(value) : std::nullopt;
      std::optional<std::string> order;
      if (kept) order = std::string(kept->order);
      before = &orders.emplace(name, std::move(order)).first->second;
    }
    if (*before) writes.Delete(OrderKey(collection, **before, change.key));
    if (change.value) {
      writes.Put(key, WriteRecord(change.order, *change.value));
      writes.Put(OrderKey(collection, change.order, change.key), "");
      *before = change.order;
    } else {
      writes.Delete(key);
      before->reset();
    }
  }
  return absl::OkStatus();
}

}  // namespace watchbill::history
