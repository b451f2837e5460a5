// Many tabs at one lock, in step: a conductor calls a round through a channel, every tab tries once at the same time and
// says whether it won, and the winners give back. Runs in the tabs, because a call from outside takes longer than a race.

const CHANNEL = 'race';
const ONCE = { maxWaitMs: 0 };

/** Takes part in every round that is called, once its worker is there. */
window.runner = async () => {
  const { error } = await window.tab.acquire({ maxWaitMs: 60_000 });
  if (error) throw new Error(error.message);
  await window.tab.release();
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = async ({ data }) => {
    if (data.call === 'go') {
      const { lease, error } = await window.tab.acquire(ONCE);
      window.won = Boolean(lease);
      channel.postMessage({ answer: 'tried', fence: lease?.fence ?? 0, code: error?.code, cause: error?.cause });
    } else if (data.call === 'back') {
      const { error } = window.won ? await window.tab.release() : {};
      window.won = false;
      channel.postMessage({ answer: 'back', code: error?.code });
    }
  };
};

/** Calls the rounds, and counts who won each. The conductor takes no part. */
window.conduct = async (tabs, rounds) => {
  const channel = new BroadcastChannel(CHANNEL);
  const call = (word) =>
    new Promise((done) => {
      const answers = [];
      channel.onmessage = ({ data }) => answers.push(data) === tabs && done(answers);
      channel.postMessage({ call: word });
    });
  const report = { none: 0, several: 0, falling: 0, codes: [] };
  let last = 0;
  for (let round = 0; round < rounds; round += 1) {
    const tried = await call('go');
    const winners = tried.filter(({ fence }) => fence > 0);
    // On a slow disk the last step of the round before may take longer than a single try waits. Then nobody got to the record,
    // and nothing is decided.
    const undecided = winners.length === 0 && tried.some(({ cause }) => cause === 'BUSY');
    if (undecided) round -= 1;
    else if (winners.length === 0) report.none += 1;
    if (winners.length > 1) report.several += 1;
    for (const { fence } of winners) [report.falling, last] = [report.falling + Number(fence <= last), fence];
    const back = await call('back');
    report.codes.push(...[...tried, ...back].map(({ code }) => code).filter(Boolean));
  }
  channel.close();
  return { ...report, codes: [...new Set(report.codes)] };
};
