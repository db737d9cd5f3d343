//! The checker accepts what is sound and finds what was broken on purpose.

use super::cases;
use super::check;
use crate::plan;
use crate::schedule::random::Random;
use crate::schedule::Feed;

#[test]
fn all_pipelines_are_accepted() {
    let mut count = [0; 3];
    for (name, graph) in cases::models() {
        for schedule in cases::schedules(&graph) {
            let say = |e: &dyn std::fmt::Debug| panic!("{name}: {e:#?}\n{schedule:#?}");
            check(&graph, &schedule).unwrap_or_else(|e| say(&e));
            let plan = plan::plan(&graph, &schedule).unwrap();
            plan::check(&graph, &schedule, &plan).unwrap_or_else(|e| say(&e));
            let mut random = Random::new(7);
            plan::replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
                .unwrap_or_else(|e| say(&e));
            count[schedule.feed() as usize] += 1;
        }
    }
    println!("{count:?}");
    assert!(
        count[Feed::Whole as usize] > 60
            && count[Feed::Rows as usize] > 30
            && count[Feed::Sliding as usize] > 2,
        "{count:?}"
    );
}
