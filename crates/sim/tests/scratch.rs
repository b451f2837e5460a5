use holdfast_sim::explore::{exhaustive, small};
use holdfast_sim::subjects;

#[test]
fn scratch() {
    for subject in [subjects::reference(), subjects::log()] {
        for small in small::all(&subject) {
            let start = std::time::Instant::now();
            let r = exhaustive::explore(&subject, &small.plan, 300_000);
            println!(
                "{} {}: {} schedules {} recognised {} states {} kills {} power {} remnants complete {} {:?}",
                subject.name(),
                small.name,
                r.schedules,
                r.recognised,
                r.states,
                r.kills,
                r.power_losses,
                r.remnants,
                r.complete,
                start.elapsed()
            );
            if let Some((a, v)) = r.found {
                println!("   FOUND {} {}", a.len(), v[0]);
            }
        }
    }
}
