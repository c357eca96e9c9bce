#include "loggops/op_execution.hpp"

#include <gtest/gtest.h>

#include "goal/graph.hpp"
#include "scheduled_rank.hpp"

namespace idlewave::loggops {
namespace {

using ExecutedRank = testing::ScheduledRank<OpExecution>;

/// A receive, and a computation that waits for its end.
goal::Graph receive_and_compute() {
    goal::GraphBuilder builder;
    builder.begin_rank();
    builder.add({.size = 11, .peer = 1, .tag = 5, .kind = goal::OpKind::recv});
    builder.add({.size = 1, .kind = goal::OpKind::calc});
    builder.require(1, 0, goal::Edge::end);
    builder.begin_rank();
    return builder.finish();
}

TEST(OpExecution, AnOpStartsWhenWhatItNeedsIsFree) {
    const goal::Graph graph = receive_and_compute();
    ExecutedRank rank(graph);
    rank.parts().current.free_times()[0] = 300;
    rank.parts().current.free_times()[rank.tables.layout.tx(0)] = 500;
    goal::ReadyOp<goal::NoCookie> op{.at = 100};
    op.op.kind = goal::OpKind::recv;
    EXPECT_EQ(rank.part.start_of(op), 100) << "R6: a receive is posted at once";
    op.op.kind = goal::OpKind::calc;
    EXPECT_EQ(rank.part.start_of(op), 300) << "R5: the CPU";
    op.op.kind = goal::OpKind::send;
    EXPECT_EQ(rank.part.start_of(op), 500) << "R7: the CPU and the send side of the NIC";
}

TEST(OpExecution, AReceiveOfAnUnexpectedMessageEndsWhenBothAreThere) {
    const goal::Graph graph = receive_and_compute();
    for (const bool processed_first : {true, false}) {
        ExecutedRank rank(graph);
        const Message message{.size = 11, .tag = 5};
        const pdes::Event<Message> event{1000, 1, 0, &message};
        EndedOp<goal::NoCookie, Time> ended;
        rank.parts().dependencies.begin(rank.parts().current);
        ASSERT_FALSE(
            rank.parts().reception().arrive(rank.parts().current, event, processed_first ? never : 1000, ended));
        const auto receive = rank.parts().dependencies.ready()[0];
        rank.parts().dependencies.ready().clear();
        rank.part.start(receive, 1010, rank.context);
        if (!processed_first) {
            EXPECT_TRUE(rank.parts().dependencies.ready().empty()) << "the message is not processed yet";
            const auto next = rank.parts().agenda.next(rank.parts().current.free_times());
            const auto& request = rank.parts().agenda.head(next.queue);
            rank.part.message_processed(request.handle,
                                        rank.parts().reception().receive(rank.parts().current, request, 0, next.at));
        }
        ASSERT_EQ(rank.parts().dependencies.ready().size(), 1U);
        EXPECT_EQ(rank.parts().dependencies.ready()[0].op_index, 1U);
        EXPECT_EQ(rank.parts().dependencies.ready()[0].at, 1000 + 30 + 20) << "R10: 10 bytes at G are later than at O";
    }
}

}  // namespace
}  // namespace idlewave::loggops
