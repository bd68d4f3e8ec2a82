// apps/barnes_hut/simulation.hpp - bodies that move.
#pragma once
#include "gravity.hpp"
#include "totals.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace barnes_hut {

/// Seconds of wall-clock time.
struct Times {
    double tree = 0;   ///< building trees, and copying them to where devices find them
    double forces = 0; ///< the jobs that compute them
    double motion = 0; ///< kicks and drifts, and the copies of forces to where they are made
};

/// Leapfrog, kick-drift-kick: one field a step, second order, time-reversible.
///
/// Lifetime  borrows the runtime
class Simulation {
public:
    enum class Phase : std::uint8_t { tree, forces, motion };
    /// Runs a job to its end. Errors: what went wrong with it
    using Run = std::function<void(const headrace::Job&, Phase)>;

    Simulation(const headrace::Runtime& runtime, const Settings& settings, Bodies bodies, double dt, Run run);

    /// Is called before each job that computes forces, with what makes jobs like it that count nowhere.
    using Rehearse = std::function<void(const std::function<headrace::Job()>& make_job)>;
    void before_forces(Rehearse rehearse) { rehearse_ = std::move(rehearse); }

    /// Instead of the first field: of a run that has done so many steps. `field`: of the bodies where they
    /// are, with potentials. `have_met`: see has_infinite_energy().
    void resume(std::uint64_t steps, Field field, bool have_met);
    /// Computes the field where the bodies are now. `with_potential`: for energy().
    void compute_field(bool with_potential);
    /// One step; the field must be that of now, and is so afterwards.
    void step(bool with_potential);
    /// The field must have the potential. Errors  invalid_argument if they are beyond doubles
    [[nodiscard]] Totals totals();

    [[nodiscard]] const Bodies& bodies(); ///< now; copied from devices if they have newer ones
    [[nodiscard]] const Field& field();   ///< likewise
    /// Of each body in the field of all others: 0 or less. The field must have them. Without softening a body
    /// at the place of another that has mass is infinitely deep: -HUGE_VAL.
    [[nodiscard]] std::vector<double> potentials();
    /// Whether bodies have been at one place without softening, since the beginning.
    [[nodiscard]] bool has_infinite_energy() const { return have_met_ || gravity_.has_infinite_potential(); }
    [[nodiscard]] std::size_t size() const { return bodies_.size(); }
    /// The time of step 0.
    [[nodiscard]] double begin() const { return bodies_.time; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] const Times& times() const { return times_; }
    [[nodiscard]] Interactions interactions() const { return gravity_.interactions(); } ///< of all fields

private:
    void move(double kick, double drift);

    Bodies bodies_;
    double dt_;
    Run run_;
    Rehearse rehearse_; ///< or none
    Gravity gravity_;
    Field field_;
    std::vector<double> strengths_; ///< of the field's accelerations, if the host moves the bodies
    bool bodies_are_old_ = false, field_is_old_ = false; ///< devices have newer ones
    bool have_met_ = false;                              ///< before this run went on
    bool is_placed_ = false;                             ///< as they are now, where trees are built
    Times times_;
    std::uint64_t steps_ = 0;
};

} // namespace barnes_hut
