//! Searching a box for the least sum of squares: differential evolution, then Gauss and Newton with a compass.
//!
//! Sources: R. Storn and K. Price, "Differential Evolution", Journal of Global Optimization 11, 1997 (the global
//! part, started from a Latin hypercube); K. Levenberg, "A Method for the Solution of Certain Non-Linear Problems in
//! Least Squares", Quarterly of Applied Mathematics 2, 1944 (the damped steps of the local part).
//!
//! Points lie in the unit box. All points of a round are chosen before any is measured, so that they can be
//! measured side by side and the result does not depend on which is done first.

use block::Seed;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

/// How a new point is made of others: Storn and Price's weight and crossover, in the middle of what they advise.
const WEIGHT: f64 = 0.6;
const CROSSOVER: f64 = 0.9;
/// How far the local search first looks, and where it ends, as shares of the box.
const STEP: f64 = 0.05;
const STEP_LEAST: f64 = 0.0005;
/// How much the steps of Gauss and Newton are damped, each tried.
const DAMPING: [f64; 4] = [1e-6, 1e-3, 1e-1, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Points in the global search.
    pub population: usize,
    /// Its rounds.
    pub global: u32,
    /// The most rounds of the local one.
    pub local: u32,
    /// The most points that are measured in all.
    pub evaluations: usize,
}

impl SearchLimits {
    /// For so many parameters.
    pub fn of(parameters: usize, rounds: u32) -> Self {
        let population = (6 * parameters).clamp(12, 48);
        let local = 2 * rounds;
        let each = 2 * parameters + DAMPING.len();
        Self {
            population,
            global: rounds,
            local,
            evaluations: population * (1 + rounds as usize) + local as usize * each,
        }
    }
}

/// The best point that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    pub point: Vec<f64>,
    /// The mean of its squares.
    pub loss: f64,
    /// How many points were measured.
    pub evaluations: usize,
}

/// Gives the residuals at a point; none where there is nothing to measure.
pub type Evaluate<'a> = dyn Fn(&[f64]) -> Option<Vec<f64>> + Sync + 'a;

#[derive(Clone, Debug)]
struct MeasuredPoint {
    point: Vec<f64>,
    residuals: Vec<f64>,
    loss: f64,
}

/// Finds the point of the unit box with the least mean of squared residuals, as far as `limits` reach.
///
/// The same start, limits and seed give the same point. `tell` hears what is done.
pub fn minimise(start: &[f64], limits: &SearchLimits, seed: Seed, evaluate: &Evaluate, tell: &dyn Fn(&str)) -> Best {
    let mut evaluations = 0;
    let mut measure = |points: Vec<Vec<f64>>| -> Vec<MeasuredPoint> {
        evaluations += points.len();
        points.into_par_iter().map(|point| measured(point, evaluate)).collect()
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
    tell("Global search");
    let mut points = latin_hypercube(start.len(), limits.population - 1, &mut random);
    points.insert(0, start.to_vec());
    let mut population = measure(points);
    for round in 1..=limits.global {
        tell(&format!("Global search, round {round}"));
        let trials = (0..population.len()).map(|place| trial(&population, place, &mut random)).collect();
        for (member, trial) in population.iter_mut().zip(measure(trials)) {
            if trial.loss <= member.loss {
                *member = trial;
            }
        }
    }
    let mut best = population.swap_remove(least(&population));
    let mut step = STEP;
    for round in 1..=limits.local {
        tell(&format!("Local search, round {round}"));
        let around = measure(compass(&best.point, step));
        let leaps = measure(leaps(&best, &around));
        let next = around.into_iter().chain(leaps).min_by(|a, b| a.loss.total_cmp(&b.loss));
        match next.filter(|next| next.loss < best.loss * 0.9999) {
            Some(next) => best = next,
            None => step /= 2.0,
        }
        if step < STEP_LEAST || best.loss == 0.0 {
            break;
        }
    }
    Best { point: best.point, loss: best.loss, evaluations }
}

fn measured(point: Vec<f64>, evaluate: &Evaluate) -> MeasuredPoint {
    let residuals = evaluate(&point).unwrap_or_default();
    let loss = match residuals.len() {
        0 => f64::INFINITY,
        count => residuals.iter().map(|residual| residual * residual).sum::<f64>() / count as f64,
    };
    MeasuredPoint { point, residuals, loss }
}

fn least(population: &[MeasuredPoint]) -> usize {
    let places = (0..population.len()).min_by(|&a, &b| population[a].loss.total_cmp(&population[b].loss));
    places.expect("a population has members")
}

/// Points of which no two share a slice of any side of the box.
fn latin_hypercube(dimensions: usize, count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; dimensions]; count];
    for dimension in 0..dimensions {
        let mut slices: Vec<usize> = (0..count).collect();
        slices.shuffle(random);
        for (point, slice) in points.iter_mut().zip(slices) {
            point[dimension] = (slice as f64 + random.random::<f64>()) / count as f64;
        }
    }
    points
}

/// A member moved towards the best and by the difference of two others; what leaves the box comes back halfway.
fn trial(population: &[MeasuredPoint], place: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut other = || random.random_range(0..population.len());
    let (one, two) = (other(), other());
    let own = &population[place].point;
    let best = &population[least(population)].point;
    let kept = random.random_range(0..own.len());
    (0..own.len())
        .map(|i| {
            if i != kept && random.random::<f64>() >= CROSSOVER {
                return own[i];
            }
            let difference = population[one].point[i] - population[two].point[i];
            match own[i] + WEIGHT * (best[i] - own[i]) + WEIGHT * difference {
                place if place < 0.0 => own[i] / 2.0,
                place if place > 1.0 => (own[i] + 1.0) / 2.0,
                place => place,
            }
        })
        .collect()
}

/// The points a step before and behind `point` along each side, within the box.
fn compass(point: &[f64], step: f64) -> Vec<Vec<f64>> {
    let moved = |i: usize, by: f64| {
        let mut moved = point.to_vec();
        moved[i] = (moved[i] + by).clamp(0.0, 1.0);
        moved
    };
    (0..point.len()).flat_map(|i| [moved(i, -step), moved(i, step)]).collect()
}

/// The damped steps of Gauss and Newton from `here`, by the slopes that its neighbours show.
fn leaps(here: &MeasuredPoint, around: &[MeasuredPoint]) -> Vec<Vec<f64>> {
    let count = here.residuals.len();
    let slope = |pair: &[MeasuredPoint], i: usize| -> Vec<f64> {
        let [low, high] = pair else { unreachable!("a compass has two points a side") };
        let distance = high.point[i] - low.point[i];
        let known = low.residuals.len() == count && high.residuals.len() == count && distance > 0.0;
        let slope = |k: usize| if known { (high.residuals[k] - low.residuals[k]) / distance } else { 0.0 };
        (0..count).map(slope).collect()
    };
    let slopes: Vec<Vec<f64>> = around.chunks(2).enumerate().map(|(i, pair)| slope(pair, i)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let leap = |damping: f64| {
        let row = |(i, slope): (usize, &Vec<f64>)| {
            let mut row: Vec<f64> = slopes.iter().map(|other| dot(slope, other)).collect();
            // A side that shows no slope stays where it is.
            row[i] = row[i] * (1.0 + damping) + f64::MIN_POSITIVE;
            row.push(-dot(slope, &here.residuals));
            row
        };
        let by = solve(slopes.iter().enumerate().map(row).collect())?;
        Some(here.point.iter().zip(by).map(|(place, by)| (place + by).clamp(0.0, 1.0)).collect())
    };
    DAMPING.into_iter().filter_map(leap).collect()
}

/// Solves a system of equations, each row with its right-hand side last; none where it has no single solution.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for i in 0..size {
        let pivot = (i..size).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()))?;
        rows.swap(i, pivot);
        let (head, tail) = rows.split_at_mut(i + 1);
        let pivot = &head[i];
        for row in tail {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(pivot).skip(i).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut solution = vec![0.0; size];
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][size] - known) / rows[i][i];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(evaluate: &Evaluate, start: &[f64]) -> Best {
        minimise(start, &SearchLimits::of(start.len(), 12), Seed::new(1), evaluate, &|_| {})
    }

    #[test]
    fn a_system_of_equations_is_solved() {
        let solved = solve(vec![vec![0.0, 2.0, 4.0], vec![3.0, 1.0, 5.0]]).unwrap();
        assert!((solved[0] - 1.0).abs() < 1e-12 && (solved[1] - 2.0).abs() < 1e-12, "{solved:?}");
        assert_eq!(solve(vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 2.0]]), None);
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        // Rosenbrock's, whose least is at 0.3 and 0.09.
        let best = find(&|p| Some(vec![10.0 * (p[1] - p[0] * p[0]), 0.3 - p[0]]), &[0.9, 0.1]);
        assert!((best.point[0] - 0.3).abs() < 1e-3 && (best.point[1] - 0.09).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn the_global_part_leaves_a_near_hollow_for_a_deeper_one_afar() {
        let hollow = |p: &[f64]| Some(vec![(4.0 * (p[0] - 0.1).abs()).min(0.3 + (p[0] - 0.9).abs()) + 0.01]);
        let best = find(&hollow, &[0.9]);
        assert!((best.point[0] - 0.1).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn the_box_is_never_left_and_a_least_on_its_side_is_reached() {
        let evaluate = |p: &[f64]| {
            assert!(p.iter().all(|place| (0.0..=1.0).contains(place)), "{p:?}");
            Some(vec![p[0] + 1.0, p[1] - 2.0])
        };
        let best = find(&evaluate, &[0.5, 0.5]);
        assert!(best.point[0] < 1e-3 && best.point[1] > 0.999, "{best:?}");
    }

    #[test]
    fn points_that_cannot_be_measured_are_passed_by() {
        let best = find(&|p| (p[0] > 0.5).then(|| vec![p[0]]), &[0.8]);
        assert!((0.5..0.51).contains(&best.point[0]), "{best:?}");
    }

    #[test]
    fn one_seed_tells_one_story_within_the_limits() {
        let evaluate = |p: &[f64]| Some(vec![(7.0 * p[0]).sin() + 0.3 * p[0], p[1] - 0.4]);
        assert_eq!(find(&evaluate, &[0.5, 0.5]), find(&evaluate, &[0.5, 0.5]));
        assert!(find(&evaluate, &[0.5, 0.5]).evaluations <= SearchLimits::of(2, 12).evaluations);
    }
}
