// apps/examples/n_queens.cl - n_queens.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global ulong *solutions, uint all
#define HEADRACE_ARGUMENTS solutions, all

typedef struct {
    uint columns, left, right, places;
} HrUnit;

void hr_seed(ulong column, uint* kind, HrUnit* board, HEADRACE_PARAMETERS) {
    *kind = 0;
    board->columns = board->left = board->right = 0;
    board->places = 1u << column;
}

void hr_run(HrLane* lane, uint kind, HrUnit board, HEADRACE_PARAMETERS) {
    const uint queen = board.places & (0u - board.places);
    HrUnit child = {board.columns | queen, (board.left | queen) << 1, (board.right | queen) >> 1, 0};
    child.places = all & ~(child.columns | child.left | child.right);
    if (child.columns == all) hr_atomic_add_ulong(solutions, 1);
    board.places ^= queen;
    if (child.places != 0) hr_spawn(lane, 0, &child);
    if (board.places != 0) hr_spawn(lane, 0, &board);
}
