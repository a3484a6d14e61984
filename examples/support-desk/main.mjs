/** A tour of the support desk: guarded calls first, then the suite over its transcripts. `npm start` runs it. */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { loadResults, openRuntime } from 'signalbox';

const auditFile = here('.signalbox/audit.jsonl');
const auditedBefore = auditLines().length;
process.exitCode = await tour();

title('What the audit observers wrote meanwhile');
for (const line of auditLines().slice(auditedBefore)) console.log(`  ${line}`);

/** Returns the exit code. Closes the runtime, which waits until the observers have received all events. */
async function tour() {
  const runtime = await openRuntime(here('runtime.yaml'));
  try {
    await callTools(runtime);
    await guardModel(runtime);
    await observeSession(runtime);
    await judgeAnswers(runtime);

    title('The suite over transcripts.jsonl');
    const report = await runtime.evals.run(here('support.suite.yaml'));
    const { renderTable } = await loadResults();
    process.stdout.write(renderTable(report, process.stdout.isTTY));
    return report.status === 'passed' ? 0 : 1;
  } finally {
    await runtime.close();
  }
}

async function callTools({ tools }) {
  title('Tools, behind a shell hook that guards refunds');
  const refund = { order_id: 'LL-1042', amount_cents: 1090, reason: 'damaged' };
  tellTool('an order', await tools.call('order_lookup', { order_id: 'LL-1042' }));
  tellTool('no such order', await tools.call('order_lookup', { order_id: 'LL-9999' }));
  tellTool('bad arguments', await tools.call('order_lookup', { order: 1042 }));
  tellTool('refund of 10.90', await tools.call('refund', refund));
  tellTool('more than is left', await tools.call('refund', { ...refund, amount_cents: 4000 }));
  tellTool(
    'refund of 219.00',
    await tools.call('refund', { ...refund, order_id: 'LL-1048', amount_cents: 21900 }),
  );
  tellTool('an order on hold', await tools.call('refund', { ...refund, order_id: 'LL-1045' }));
}

async function guardModel({ hooks }) {
  title('A model, behind the PII filter');
  const content = 'I am maya.okafor@example.org, my card 4242 4242 4242 4242 was charged twice!';
  const request = { messages: [{ role: 'user', content }] };
  const answer = (text) => ({ message: { role: 'assistant', content: text } });
  const harmless = answer('Thank you! We took EUR 48.50 for LL-1042 once.');
  const leaking = answer('Yes, from your card 4242 4242 4242 4242.');
  const after = { hook: 'provider', phase: 'after_call', request };
  tellDecision('the question', await hooks.fire({ hook: 'provider', phase: 'before_call', request }));
  tellDecision('a good answer', await hooks.fire({ ...after, response: harmless }));
  tellDecision('a leaking answer', await hooks.fire({ ...after, response: leaking }));
}

async function observeSession({ hooks }) {
  title('A session, observed');
  const event = { session_id: 'sess_1', conversation_id: 'conv_1' };
  for (const phase of ['session_start', 'session_update', 'session_end']) {
    tellDecision(phase, await hooks.fire({ hook: 'session', phase, event }));
  }
}

async function judgeAnswers({ evals }) {
  title('Two answers, judged');
  const threshold = { min_score: 0.5 };
  const answers = [
    'I am sorry about that! Please let me know the order number.',
    'Obviously it is on the website.',
  ];
  for (const content of answers)
    tellEval(content, await evals.call('politeness', { content }, { threshold }));
}

function tellTool(what, document) {
  tell(what, document.status, describe(document));
}

function describe(document) {
  switch (document.status) {
    case 'ok':
      return JSON.stringify(document.result);
    case 'failed':
      return `[${document.error.code}] ${document.error.message}`;
    case 'denied':
      return `${document.hook}: ${document.reason}`;
    case 'pending':
      return document.pending.message;
  }
}

function tellDecision(what, { verdict, hook, reason, replace, result }) {
  tell(what, verdict, hook === null ? '' : `${hook}: ${reason}`);
  if (replace !== null) tell('', '', `becomes ${JSON.stringify(replace)}`);
  if (result !== null) tell('', '', `the caller reads: ${result}`);
}

function tellEval(what, document) {
  const why = document.status === 'scored' ? `score ${document.score}: ${document.detail}` : document.reason;
  tell(document.passed ? 'passed' : 'failed', document.status, `${what} (${why})`);
}

function title(text) {
  console.log(`\n${text}`);
}

function tell(what, verdict, text) {
  const shown = text.length > 150 ? `${text.slice(0, 149)}…` : text;
  console.log(`  ${what.padEnd(18)}${verdict.padEnd(8)}${shown}`.trimEnd());
}

function auditLines() {
  return existsSync(auditFile) ? readFileSync(auditFile, 'utf8').trimEnd().split('\n') : [];
}

/** The path of a file of this example, as seen from the current folder. */
function here(name) {
  return relative(process.cwd(), join(import.meta.dirname, name));
}
