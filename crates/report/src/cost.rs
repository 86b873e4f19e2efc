//! What a drive costs, and what it gives for the money and for the watt.

use drive::preset::ListPrice;
use maud::{Markup, html};
use plan::compare::Comparison;
use plan::{Metric, Outcome};
use serde::Serialize;

use crate::energy;
use crate::key_places::key_places;
use crate::number::three;

/// A drive's price with its figures for the money, and for the watt where power was metered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cost {
    price: Option<ListPrice>,
    /// In units of the currency, for 10⁹ bytes of the target that the run used.
    per_gb: Option<f64>,
    figures: Vec<CostFigure>,
}

/// A throughput that is a key figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CostFigure {
    figure: String,
    unit: &'static str,
    value: f64,
    /// For each unit of the currency.
    per_price: Option<f64>,
    /// For each watt that was used meanwhile.
    per_watt: Option<f64>,
    watts: Option<f64>,
}

impl Cost {
    /// Of a run; none where neither its price is known nor its power was asked for.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        let price = outcome.price();
        if price.is_none() && !energy::is_asked(outcome) {
            return None;
        }
        let amount = price.as_ref().map(|price| price.amount.amount());
        let gigabytes = outcome.writable().map(|writable| writable.get() as f64 / 1e9).filter(|size| *size > 0.0);
        let places = key_places(outcome).into_iter().filter(|place| place.metric.is_throughput());
        let figures = places.filter_map(|place| {
            let named = |index: usize| outcome.plan.steps[index].name == place.step;
            let step = outcome.steps.iter().find(|step| named(step.index))?;
            let point = step.points.iter().find(|point| point.key() == place.cell)?;
            let value = point.figure(place.metric)?.mean;
            let watts = point.figure(Metric::Power).map(|power| power.mean).filter(|watts| *watts > 0.0);
            let (figure, unit) = (place.title, place.metric.unit());
            let per_price = amount.map(|amount| value / amount);
            Some(CostFigure { figure, unit, value, per_price, per_watt: watts.map(|watts| value / watts), watts })
        });
        let figures = figures.collect();
        Some(Self { per_gb: amount.zip(gigabytes).map(|(amount, size)| amount / size), price, figures })
    }

    /// The currency, where the price is known.
    fn currency(&self) -> Option<&str> {
        Some(self.price.as_ref()?.amount.currency())
    }

    /// The price with what it buys, in one line; none where it is not known. Of several figures with one unit it names the
    /// greatest.
    pub(crate) fn line(&self) -> Option<String> {
        let (price, currency) = (self.price.as_ref()?, self.currency()?);
        let each = self.per_gb.map(|each| format!("{} {currency}/GB", three(each)));
        let best = |unit: &str| {
            let of_unit = self.figures.iter().filter(|one| one.unit == unit);
            let best = of_unit.max_by(|one, other| one.value.total_cmp(&other.value))?;
            let watts = best.per_watt.map(|each| format!(", {} {unit}/W", three(each))).unwrap_or_default();
            Some(format!("up to {} {unit}/{currency}{watts}", three(best.per_price?)))
        };
        let parts: Vec<String> = each.into_iter().chain(["IOPS", "MB/s"].into_iter().filter_map(best)).collect();
        Some(format!("Price {}: {}", told(price), parts.join("; ")).trim_end_matches(": ").to_owned() + ".")
    }

    /// The section of a report.
    pub(crate) fn section(&self) -> Markup {
        let has_power = self.figures.iter().any(|one| one.watts.is_some());
        let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three);
        html! {
            section #cost {
                h2 { "Price and efficiency" }
                @match &self.price {
                    Some(price) => p {
                        "Price: " (told(price)) "."
                        @if let (Some(each), Some(currency)) = (self.per_gb, self.currency()) {
                            " Cost of capacity: " (three(each)) " " (currency) " per GB (10⁹ B)."
                        }
                        @if !price.source.is_empty() { " Source: " (price.source) "." }
                    },
                    None => p { "The price is not known: " code { "assay tag RUN --price 89.90EUR" } " adds it." },
                }
                @if !self.figures.is_empty() {
                    table {
                        caption { "Key figures for the money" @if has_power { " and for the watt" } ", more is better" }
                        thead { tr {
                            th scope="col" { "Figure" } th.number scope="col" { "Mean" } th scope="col" { "Unit" }
                            @if let Some(currency) = self.currency() { th.number scope="col" { "per " (currency) } }
                            @if has_power { th.number scope="col" { "Power, W" } th.number scope="col" { "per W" } }
                        } }
                        tbody { @for one in &self.figures { tr {
                            th scope="row" { (one.figure) } td.number { (three(one.value)) } td { (one.unit) }
                            @if self.price.is_some() { td.number { (figure(one.per_price)) } }
                            @if has_power { td.number { (figure(one.watts)) } td.number { (figure(one.per_watt)) } }
                        } } }
                    }
                }
            }
        }
    }
}

/// One of the figures for the money or for the watt.
type Way = fn(&CostFigure) -> Option<f64>;

/// `89.90 EUR (2024-05)`.
fn told(price: &ListPrice) -> String {
    let date = if price.date.is_empty() { String::new() } else { format!(" ({})", price.date) };
    format!("{}{date}", price.amount)
}

/// The cost of each run of a comparison, in a line each; empty where no price is known.
pub(crate) fn lines(comparison: &Comparison) -> Vec<String> {
    let line = |outcome: &Outcome| Some(format!("Run {}: {}", outcome.run.id, Cost::of(outcome)?.line()?));
    comparison.outcomes.iter().filter_map(line).collect()
}

/// The cost of each run of a comparison side by side; nothing where no price is known and no power was asked for.
pub(crate) fn compared(comparison: &Comparison) -> Markup {
    let costs: Vec<(String, Cost)> =
        comparison.outcomes.iter().filter_map(|one| Some((format!("run {}", one.run.id), Cost::of(one)?))).collect();
    let mut titles: Vec<(&str, &str)> = Vec::new();
    for one in costs.iter().flat_map(|(_, cost)| &cost.figures) {
        if !titles.contains(&(one.figure.as_str(), one.unit)) {
            titles.push((&one.figure, one.unit));
        }
    }
    let of = |cost: &Cost, title: &str, give: Way| {
        let found = cost.figures.iter().find(|one| one.figure == title).and_then(give);
        found.map_or_else(|| "–".to_owned(), three)
    };
    let ways: [(&str, Way); 2] = [("price", |one| one.per_price), ("W", |one| one.per_watt)];
    html! {
        @if !costs.is_empty() {
            section #cost {
                h2 { "Price and efficiency" }
                @for (name, cost) in &costs {
                    @if let Some(price) = &cost.price { p {
                        (name) ": " (told(price))
                        @if let Some(each) = cost.per_gb { ", " (three(each)) " " (price.amount.currency()) " per GB" } "."
                    } }
                }
                @for (what, give) in ways {
                    @if costs.iter().any(|(_, cost)| cost.figures.iter().any(|one| give(one).is_some())) {
                        table {
                            caption { "Key figures per " (what) ", more is better" }
                            thead { tr {
                                th scope="col" { "Figure" } th scope="col" { "Unit" }
                                @for (name, cost) in &costs {
                                    th.number scope="col" { (name) @if what == "price" { ", per " (cost.currency().unwrap_or("–")) } }
                                }
                            } }
                            tbody { @for (title, unit) in &titles { tr {
                                th scope="row" { (title) } td { (unit) }
                                @for (_, cost) in &costs { td.number { (of(cost, title, give)) } }
                            } } }
                        }
                    }
                }
            }
        }
    }
}
