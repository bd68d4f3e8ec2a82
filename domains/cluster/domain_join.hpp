// domains/cluster/domain_join.hpp - the private replicas of one domain, or its parts, from all ranks to rank
// 0, and the result back. Internal to domains/.
#pragma once
#include <headrace/domains/detail/joining.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <deque>
#include <memory>

namespace headrace::cluster {

class DomainJoin final : public RankJoin {
public:
    /// `number`: the same on all ranks, and of this join alone.
    DomainJoin(std::shared_ptr<Node> node, JoinNumber number) : node_(std::move(node)), number_(number) {}

    [[nodiscard]] bool is_first_rank() const override { return node_->rank() == 0; }
    [[nodiscard]] bool follows(const RankJoin& other) const override {
        return static_cast<const DomainJoin&>(other).number_ < number_; // all are of ranks
    }
    [[nodiscard]] std::vector<Replica> receive() override;
    void publish(const Result& result) override;
    void publish(const Error& error) override;
    [[nodiscard]] Result exchange(const DomainData& data, const Joining& joining,
                                  std::span<const Replica* const> mine, const ErrorPtr& error) override;

    [[nodiscard]] std::vector<IndexRange> exchange_parts(DomainData& data, std::span<const IndexRange> mine,
                                                         const ErrorPtr& error) override;

private:
    /// Elements of one rank, with their contents.
    struct Part {
        int rank;
        IndexRange elements;
        std::span<const std::byte> contents;
    };
    static void read(std::span<const std::byte> message, std::vector<Part>& parts);
    static void read_together(std::span<const std::byte> message, std::vector<Part>& parts);
    [[nodiscard]] static std::vector<Answer> answers_of(std::vector<Message> messages);
    static void expect_apart(const DomainData& data, std::vector<Part>& parts);

    std::shared_ptr<Node> node_;
    JoinNumber number_;
    std::deque<std::unique_ptr<Device>> devices_; ///< of the received replicas, which refer to them
};

} // namespace headrace::cluster
