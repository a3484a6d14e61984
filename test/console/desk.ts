import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveConsole } from '../../src/console/serve.ts';
import { openRuntime } from '../../src/index.ts';
import { fixture, pipeline, workspace } from '../workspace.ts';

const spec = `decisions: {content: true}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - when: round == 1
          text: I have looked at the order. The lamp was broken on arrival, and the photo shows it.
          tool_calls: [{name: refund, args: {order: A-1017, item: lamp, cents: 21900, method: card, note: Broken on arrival}}]
        - {text: Your refund is on its way.}
tools:
  refund:
    description: Pays money back for one item of an order.
    exec: {command: cat}
    approval: {message: "Refund \${args.cents} cents for the \${args.item} of order \${args.order}?", expires: 24h}
    input_schema:
      type: object
      required: [order, item, cents]
      properties:
        order: {type: string, description: The id of the order}
        item: {type: string}
        cents: {type: integer, minimum: 1, description: How many cents}
        method: {enum: [card, bank, voucher]}
        express: {type: boolean}
        note: {type: string, description: Shown to the customer}
  send_mail:
    exec: {command: cat}
    approval: {by: [ada, mara, joe], quorum: 2, message: "Send this mail to 2,104 customers?"}
hooks:
  shadow: {command: ${fixture('allow.sh')}, hook: tool, phases: [before_execution], mode: shadow}
`;

const chat = `steps: [{id: answer, chat: {provider: main, system: You are the support desk of a lamp shop. Be brief and kind., messages: "The lamp of order A-1017 arrived broken, see the photo. I would like my money back.", tools: [refund]}}]
output: \${steps.answer}
`;

/** Answers of a support desk: in each later run, one more of them is polite. */
const answers = (polite: number) =>
  Array.from({ length: 8 }, (_, n) => ({
    id: `ticket-${n + 1}`,
    content: n < polite ? 'Thank you for the photo. We send a new lamp today.' : 'Look at our conditions.',
    tags: [n % 2 === 0 ? 'lamp' : 'mug'],
  }));

const suite = (polite: number) =>
  JSON.stringify({
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name: 'politeness' },
    spec: {
      runtime: './runtime.yaml',
      cases: answers(polite),
      evals: [{ id: 'thanks', type: 'contains', params: { patterns: ['thank'] } }],
      gates: [{ eval: 'thanks', metric: 'pass_rate', min: 0.7 }],
    },
  });

/** A console with some of everything, for pictures. */
export async function openDesk() {
  const folder = workspace(spec);
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const file = join(folder, 'ticket.pipeline.yaml');
  writeFileSync(file, pipeline(chat, 'ticket'));
  const run = await runtime.run(file, {}, { labels: { ticket: '4711', customer: 'ada' } });
  const wait = async (tool: string, args: unknown) => {
    const document = await runtime.tools.call(tool, args);
    if (document.status !== 'pending') throw new Error(JSON.stringify(document));
    return document.pending.id;
  };
  const editable = await wait('refund', { order: 'A-1020', item: 'mug', cents: 1900, method: 'bank' });
  for (let n = 0; n < 12; n += 1)
    await wait('refund', {
      order: `A-${1030 + n}`,
      item: n === 4 ? 'chandelier' : 'lamp',
      cents: n === 4 ? 219_000 : 21_900,
      method: 'card',
    });
  const mail = await wait('send_mail', {
    subject: 'Your lamp',
    text: `Dear customer,\n\nyour lamp has shipped. \u202etxt.exe\u202c\n${'All the best. '.repeat(40)}`,
    to: Array.from({ length: 2_104 }, (_, n) => ({ id: n, address: `customer-${n}@example.com` })),
    id: 9_007_199_254_740_992n,
  });
  await runtime.pending.approve(mail, { by: 'mara', reason: 'Checked the list' });
  const used = await wait('refund', { order: 'A-1001', item: 'lamp', cents: 100 });
  await runtime.pending.approve(used, { by: 'joe' });
  const [first] = await runtime.pending.list({ runId: run.run_id });
  const suites: string[] = [];
  for (const polite of [3, 5, 4, 6, 7]) {
    const path = join(folder, 'politeness.suite.yaml');
    writeFileSync(path, suite(polite));
    suites.push((await runtime.evals.run(path)).run_id);
  }
  const [before = '', after = ''] = suites.slice(-2);
  const { url, close } = await serveConsole(runtime, {
    listen: '127.0.0.1:0',
    userName: 'ada',
    version: '1.0.0',
  });
  return {
    url,
    editable,
    paths: {
      inbox: '/inbox',
      'inbox-call': `/inbox/${first?.id}`,
      'inbox-mail': `/inbox/${mail}`,
      'inbox-unused': '/inbox?state=not_used',
      runs: '/runs',
      run: `/runs/${run.run_id}`,
      evals: '/evals',
      'evals-suite': '/evals/suites/politeness',
      'evals-compare': `/evals/compare?${new URLSearchParams({ a: before, b: after })}`,
      'evals-run': `/evals/${after}`,
      guard: '/guard',
      'guard-audit': '/guard/audit',
    },
    async close() {
      await close();
      await runtime.close();
    },
  };
}
