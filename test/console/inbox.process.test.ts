import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Json } from '../../src/index.ts';
import { pipeline } from '../workspace.ts';
import { keysOf, serve } from './serving.ts';
import { describeInBrowser, expectAccessibleInAllLooks } from './tab.ts';

const schema = `{type: object, required: [to, cents], properties: {to: {type: string, description: The account}, cents: {type: integer, minimum: 0}, urgent: {type: boolean}, method: {enum: [card, bank]}}}`;
const spec = `tools:
  refund: {exec: {command: cat}, approval: {message: "Refund \${args.cents} cents to \${args.to}?", expires: 2h}, input_schema: ${schema}}
  mail: {exec: {command: cat}, approval: {}}
  brief: {exec: {command: cat}, approval: {expires: 10s}}
  wire: {exec: {command: cat}, approval: {by: [mara, joe], quorum: 2}}
`;

async function desk(names: readonly string[] = []) {
  const served = await serve(spec);
  const { runtime, folder } = served;
  const keys = names.length === 0 ? undefined : await keysOf(folder);
  const created = await Promise.all(
    names.map(async (name) => (await keys?.create({ name, role: 'approver' }))?.key),
  );
  const add = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const document = await runtime.tools.call(tool, args);
    if (document.status !== 'pending') throw new Error(JSON.stringify(document));
    return document.pending.id;
  };
  /** What was decided about each call, in their order. */
  const decisions = async () =>
    (await runtime.pending.list({ all: true })).map(
      ({ status, by, decision_reason: reason, edited_args: edited, result }) => ({
        ...{ status, by, reason, edited, result },
      }),
    );
  return { ...served, keys: created.map((key) => key ?? ''), add, decisions };
}

const undecided = { status: 'open', by: null, reason: null, edited: null, result: null };
const decided = { ...undecided, by: 'ada', reason: '' };

/** The window in which a decision can be taken back passes. */
const passUndo = async (page: Page) => await page.clock.runFor(5_500);
/** Time passes only when a test says so, and the window not while a slow machine works. */
const stopTime = async (page: Page) => {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 10_000);
};
const head = (page: Page) => page.locator('.call h2');
/** Waits for the call, and until keys decide about it. */
const seen = async (page: Page, message: string) => {
  await page.locator('.message', { hasText: message }).waitFor();
  await page.clock.runFor(300);
};
const openRow = async (page: Page, index: number) =>
  await page.locator(`.rows li[aria-posinset="${index + 1}"] a`).click();

/** Presses Tab until the button has the focus. */
async function tabTo(page: Page, name: string) {
  for (let step = 0; step < 100; step += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement?.textContent')) === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

describeInBrowser((openTab) => {
  test('a person approves, rejects, edits and answers with the keyboard alone', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 4; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page, offences } = await openTab(origin, { key: token });
    await page.clock.install();
    await page.locator('.rows li').nth(3).waitFor();
    const { keyboard } = page;
    await keyboard.press('j');
    await seen(page, 'Refund 1 cents');
    await keyboard.press('a');
    await seen(page, 'Refund 2 cents');
    await keyboard.press('r');
    await keyboard.type('too much');
    await keyboard.press('Enter');
    await seen(page, 'Refund 3 cents');
    await keyboard.press('e');
    await page.getByLabel('to required').waitFor();
    await keyboard.press('Tab');
    await keyboard.press('Control+a');
    await keyboard.type('33');
    await page.locator('.check.good').waitFor();
    expect(await page.locator('.diff').innerText()).toContain('333');
    await keyboard.press('Escape');
    await keyboard.press('a');
    await page.locator('.toast.undo', { hasText: 'Approve refund, with edited arguments' }).waitFor();
    await seen(page, 'Refund 4 cents');
    await tabTo(page, 'Answer instead');
    await keyboard.press('Enter');
    await keyboard.type('{"paid": 1.50}');
    await tabTo(page, 'Send the answer');
    await keyboard.press('Enter');
    await passUndo(page);
    await expect.poll(decisions).toEqual([
      { ...decided, status: 'approved' },
      { ...decided, status: 'rejected', reason: 'too much' },
      { ...decided, status: 'approved', edited: { to: 'Ada', cents: 33 } },
      { ...decided, status: 'responded', result: { paid: 1.5 } },
    ]);
    expect(offences).toEqual([]);
  });

  test('in an open call its age counts on, and after its time nobody can decide about it', async () => {
    const { origin, token, add, runtime } = await desk();
    const { page } = await openTab(origin, { key: token });
    await page.getByText('No call here.').waitFor();
    const id = await add('brief', { n: 1 });
    await openRow(page, 0);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const facts = page.locator('.call dl');
    const first = await facts.innerText();
    await expect.poll(async () => await facts.innerText()).not.toBe(first);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await expect.poll(() => page.locator('.decide button').count(), { timeout: 20_000 }).toBe(0);
    await page.keyboard.press('a');
    await page.locator('.call .decided', { hasText: 'The call has expired' }).waitFor();
    expect([await page.locator('.toast').count(), (await runtime.pending.show(id)).status]).toEqual([
      0,
      'expired',
    ]);
  });

  test('a person approves, rejects, edits and answers with the mouse', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 4; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page, offences } = await openTab(origin, { key: token });
    await page.clock.install();
    await openRow(page, 0);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    // That the first decision is sent meanwhile does not disturb typing.
    await page.getByLabel('Reason').click();
    await page.keyboard.type('too');
    await passUndo(page);
    await page.getByText('Approved the call.').waitFor();
    await page.keyboard.type(' much');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.locator('.message', { hasText: 'Refund 3 cents' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await page.getByLabel('Arguments as JSON').fill('{"to": "Ada", "cents": "33"}');
    expect(await page.locator('.check.bad').innerText()).toContain('cents');
    await page.getByRole('button', { name: 'Edit in a form' }).isHidden();
    await page.getByLabel('Arguments as JSON').fill('{"to": "Ada", "cents": 33, "method": "bank"}');
    await page.locator('.check.good').waitFor();
    await page.getByRole('button', { name: 'Approve edited' }).click();
    await page.locator('.message', { hasText: 'Refund 4 cents' }).waitFor();
    await page.getByRole('button', { name: 'Answer instead' }).click();
    await page.getByLabel('Answer: JSON, or a text').fill('paid in cash');
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await passUndo(page);
    await expect.poll(decisions).toEqual([
      { ...decided, status: 'approved' },
      { ...decided, status: 'rejected', reason: 'too much' },
      { ...decided, status: 'approved', edited: { to: 'Ada', cents: 33, method: 'bank' } },
      { ...decided, status: 'responded', result: 'paid in cash' },
    ]);
    expect(offences).toEqual([]);
  });

  test('a question is answered in a form of its schema, and a wrong answer is refused', async () => {
    const { origin, token, runtime, folder, decisions } = await desk();
    const question = 'steps: [{id: a, ask: {question: Which one?, schema: {enum: [red, green]}}}]';
    const file = `${folder}/desk.pipeline.yaml`;
    writeFileSync(file, pipeline(question));
    await runtime.run(file);
    const { page, offences } = await openTab(origin, { key: token });
    await page.clock.install();
    await openRow(page, 0);
    await page.getByRole('button', { name: 'Answer' }).click();
    expect(await page.getByLabel('Answer').locator('option').allTextContents()).toEqual([
      'not given',
      'red',
      'green',
    ]);
    await page.getByLabel('Answer').selectOption('green');
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await passUndo(page);
    await expect.poll(decisions).toEqual([{ ...decided, status: 'responded', result: 'green' }]);
    expect(offences).toEqual([]);
  });

  test('nothing is sent after an undo, nor from a closed tab', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 2; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page } = await openTab(origin, { key: token });
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await openRow(page, 0);
    await page.locator('footer .primary').waitFor();
    await sleep(400);
    await page.keyboard.press('a');
    await page.locator('.toast.undo').waitFor();
    await page.keyboard.press('u');
    await page.getByText('Taken back. Nothing was sent.').waitFor();
    await openRow(page, 1);
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    await sleep(400);
    await page.keyboard.press('a');
    await page.locator('.toast.undo').waitFor();
    // The window goes on in other sections.
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.locator('.toast.undo').waitFor();
    await page.close();
    await sleep(6_000);
    expect({ sent, decisions: await decisions() }).toEqual({ sent: [], decisions: [undecided, undecided] });
  });

  test('of two approvers at once one wins, and the other reads who, and keeps what was typed', async () => {
    const { origin, keys, add, decisions, runtime } = await desk(['mara', 'joe']);
    const id = await add('refund', { to: 'Ada', cents: 1 });
    const [mara, joe] = await Promise.all(
      keys.map(async (key) => await openTab(origin, { key, path: `/inbox/${id}` })),
    );
    if (mara === undefined || joe === undefined) throw new Error('two tabs');
    await Promise.all([mara, joe].map(async ({ page }) => await page.clock.install()));
    await mara.page.getByLabel('Reason').fill('no such account');
    await mara.page.getByRole('button', { name: 'Reject' }).click();
    await joe.page.getByLabel('Reason').fill('fine with me');
    await joe.page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(mara.page);
    await expect.poll(async () => (await runtime.pending.show(id)).status).toBe('rejected');
    await passUndo(joe.page);
    await joe.page.locator('.toast.error').waitFor();
    expect(await joe.page.locator('.toast.error').innerText()).toContain('mara has rejected this call');
    expect(await joe.page.locator('.decided').innerText()).toContain('no such account');
    expect(await decisions()).toEqual([
      { ...decided, status: 'rejected', by: 'mara', reason: 'no such account' },
    ]);
  });

  test('a quorum needs two people, each sees who has approved, and a call that has changed is shown again', async () => {
    const { origin, keys, add, runtime } = await desk(['mara', 'joe']);
    const id = await add('wire', { cents: 1 });
    const [mara, joe] = await Promise.all(
      keys.map(async (key) => await openTab(origin, { key, path: `/inbox/${id}` })),
    );
    if (mara === undefined || joe === undefined) throw new Error('two tabs');
    await Promise.all([mara, joe].map(async ({ page }) => await page.clock.install()));
    await joe.page.getByLabel('Reason').fill('typed before');
    await joe.page.getByRole('button', { name: 'Approve' }).click();
    await mara.page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(mara.page);
    await mara.page.getByText('You have approved. 1 more approval needed.').waitFor();
    await passUndo(joe.page);
    // Joe decided on a call without approvals.
    await joe.page.locator('.fault', { hasText: 'approved by mara, of 2 needed' }).waitFor();
    expect(await joe.page.getByLabel('Reason').inputValue()).toBe('typed before');
    await joe.page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(joe.page);
    await expect.poll(async () => (await runtime.pending.show(id)).status).toBe('approved');
    expect((await runtime.pending.show(id)).approvals?.map(({ by, reason }) => [by, reason])).toEqual([
      ['mara', ''],
      ['joe', 'typed before'],
    ]);
  });

  test('of 200 selected calls one is decided meanwhile: each is decided on its own, and each result is shown', async () => {
    const { origin, token, add, runtime, decisions } = await desk();
    const ids: string[] = [];
    for (let cents = 0; cents < 200; cents += 1)
      ids.push(await add('refund', { to: cents === 7 ? 'Mallory' : 'Ada', cents: 5 }));
    await add('mail', {});
    const { page, offences } = await openTab(origin, { key: token, path: '/inbox?tool=refund' });
    await page.clock.install();
    await page.locator('.rows li[aria-setsize="100"]').first().waitFor();
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.locator('.rows li[aria-setsize="200"]').first().waitFor();
    await page.getByRole('button', { name: 'Select 200 listed' }).click();
    await page.getByRole('button', { name: 'Compare 200 and decide' }).click();
    expect(await page.locator('.same').innerText()).toBe('cents\n5');
    expect(await page.locator('.compare thead').innerText()).toContain('to');
    expect(await page.locator('.compare .differs').allInnerTexts()).toEqual(['differs:\n"Mallory"']);
    await page.getByLabel('Reason for all').fill('as agreed');
    await page.getByRole('button', { name: 'Approve 200' }).click();
    await runtime.pending.reject(ids[7] ?? '', { by: 'mara', reason: 'not her' });
    await passUndo(page);
    await page.getByText('199 calls decided, 1 not.').waitFor();
    expect(await page.locator('.several .bad').allInnerTexts()).toEqual([
      expect.stringMatching(/^mara has rejected this call .*: not her/),
    ]);
    const all = await decisions();
    expect(all.splice(7, 1)).toEqual([{ ...decided, status: 'rejected', by: 'mara', reason: 'not her' }]);
    expect(all).toEqual([
      ...Array(199).fill({ ...decided, status: 'approved', reason: 'as agreed' }),
      undecided,
    ]);
    expect(offences).toEqual([]);
  });

  test('selected calls are decided with the keyboard alone, and signing out takes back what is held', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 4; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page, offences } = await openTab(origin, { key: token });
    await page.clock.install();
    await page.locator('.rows li').nth(3).waitFor();
    const { keyboard } = page;
    for (const key of ['j', 'x', 'j', 'x', 'c']) await keyboard.press(key);
    await page.locator('.compare').waitFor();
    await keyboard.press('r');
    await keyboard.type('not today');
    await keyboard.press('Enter');
    await page.locator('.toast.undo').waitFor();
    // Taken back, and then refused as a whole: the selection and the reason stay.
    await keyboard.press('u');
    await page.route('**/pendings/decisions', async (route) => await route.abort());
    await page.getByRole('button', { name: 'Reject 2' }).click();
    await passUndo(page);
    await page.locator('.several .fault', { hasText: 'The server does not answer.' }).waitFor();
    await page.unroute('**/pendings/decisions');
    offences.length = 0;
    expect(await page.getByLabel('Reason for all').inputValue()).toBe('not today');
    await keyboard.press('r');
    await passUndo(page);
    await page.getByText('2 calls decided, 0 not.').waitFor();
    await keyboard.press('Escape');
    await page.locator('.rows li', { hasText: 'Refund 4 cents' }).getByRole('link').click();
    await seen(page, 'Refund 4 cents');
    // Typing a reason and Enter does not reject before a person has chosen to.
    await page.getByLabel('Reason').fill('fine');
    await keyboard.press('Enter');
    expect(await page.locator('.toast.undo').count()).toBe(0);
    await keyboard.press('Escape');
    // A key that is held down decides once, and a call that has only just appeared is not decided.
    await keyboard.down('a');
    await keyboard.down('a');
    await keyboard.down('a');
    await page.locator('.toast.undo').waitFor();
    expect(await page.locator('.toast.undo').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('1 decision not sent.').waitFor();
    await passUndo(page);
    const rejected = { ...decided, status: 'rejected', reason: 'not today' };
    expect(await decisions()).toEqual([rejected, rejected, undecided, undecided]);
    expect(offences).toEqual([]);
  });

  test('hostile texts are inert and marked, digits are exact, and ten megabytes are shown whole', async () => {
    const { origin, token, runtime } = await desk();
    const html = '<img src=x onerror=alert(1)><script>alert(1)</script>';
    const text = `${html} \u202eevil\u200b javascript:alert(1) https://example.com`;
    const long = `${'x'.repeat(10_000_000)}END`;
    const numbers = '"id": 9007199254740993, "price": 1.10, "huge": 1e400';
    const document = await runtime.tools.call(
      'mail',
      Json.parse(
        `{"text": ${JSON.stringify(text)}, ${numbers}, "${html}": [[]], "hidden": "${'\u200b'.repeat(100_000)}", "long": "${long}"}`,
      ),
    );
    if (document.status !== 'pending') throw new Error(JSON.stringify(document));
    const { page, offences } = await openTab(origin, { key: token, path: `/inbox/${document.pending.id}` });
    const tree = page.locator('.tree');
    await tree.waitFor();
    expect(await tree.locator('.scalar').allInnerTexts()).toEqual(['9007199254740993', '1.10', '1e400']);
    expect(await tree.locator('.code-point').allInnerTexts()).toEqual(['U+202E', 'U+200B']);
    await page.getByRole('button', { name: 'Show all 100,000 characters' }).click();
    expect((await tree.locator('.text').first().textContent())?.match(/U\+200B/g)).toHaveLength(100_000);
    expect(await tree.innerText()).toContain(html);
    expect(
      await page
        .locator('.detail :is(img, script, iframe, [onerror]), .detail a:not([href^="/console/"])')
        .count(),
    ).toBe(0);
    await page.getByRole('button', { name: 'Show all 10,000,003 characters' }).click();
    expect(
      await tree
        .locator('.text')
        .last()
        .evaluate((box) => box.textContent?.length),
    ).toBe(10_000_003);
    const { bottom } = await page
      .getByRole('button', { name: 'Approve' })
      .evaluate((button) => button.getBoundingClientRect());
    expect(bottom).toBeLessThan(900);
    expect(offences).toEqual([]);
  });

  test('a double click decides about one call', async () => {
    const { origin, token, add } = await desk();
    for (let cents = 1; cents <= 3; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page } = await openTab(origin, { key: token });
    await openRow(page, 0);
    await stopTime(page);
    await page.getByRole('button', { name: 'Approve' }).hover();
    const click = async (clickCount: number) => {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    await click(1);
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    await click(2);
    await click(3);
    expect(await page.locator('.toast.undo').count()).toBe(1);
    await click(1);
    await page.locator('.message', { hasText: 'Refund 3 cents' }).waitFor();
    expect(await page.locator('.toast.undo').count()).toBe(2);
  });

  test('the undo of a call takes back the decision about this call', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 2; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page } = await openTab(origin, { key: token });
    await openRow(page, 0);
    await stopTime(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await openRow(page, 0);
    await page.locator('.message', { hasText: 'Refund 1 cents' }).waitFor();
    await page.locator('.decide').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Taken back. Nothing was sent.').waitFor();
    await passUndo(page);
    await expect.poll(decisions).toEqual([undecided, { ...decided, status: 'approved' }]);
  });

  test('whoever types while the call is decided elsewhere presses no shortcut', async () => {
    const { origin, token, add, decisions, runtime } = await desk();
    const id = await add('refund', { to: 'Ada', cents: 1 });
    await add('refund', { to: 'Ada', cents: 2 });
    const { page } = await openTab(origin, { key: token, path: `/inbox/${id}` });
    await page.getByLabel('Reason').click();
    await page.keyboard.type('I would ');
    await runtime.pending.reject(id, { by: 'mara', reason: 'no such account' });
    await page.locator('.decided', { hasText: 'mara has rejected' }).waitFor();
    await page.keyboard.type('just approve this', { delay: 50 });
    await sleep(400);
    expect(await page.getByLabel('Reason').inputValue()).toBe('I would ');
    expect(await page.locator('.toast.undo').count()).toBe(0);
    expect(await page.locator('.message').innerText()).toContain('Refund 1 cents');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    expect((await decisions())[1]).toEqual(undecided);
  });

  test('a connection over which nothing comes any more is broken', async () => {
    const { origin, token } = await desk();
    const { page } = await openTab(origin, { key: token });
    await page.locator('.list', { hasText: 'No call here.' }).waitFor();
    await page.clock.install();
    await page.reload();
    await page.locator('.list', { hasText: 'No call here.' }).waitFor();
    await page.route('**/changes*', async (route) => await route.abort());
    await page.clock.runFor(45_000);
    await page.getByText('No live updates').waitFor();
    await page.unroute('**/changes*');
    await page.clock.runFor(30_000);
    await expect.poll(() => page.locator('.broken').innerText()).toBe('');
  });

  test('a call is printed whole, without what is only for the screen', async () => {
    const { origin, token, add } = await desk();
    const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`);
    const id = await add('mail', { text: lines.join('\n') });
    const { page } = await openTab(origin, { key: token, path: `/inbox/${id}` });
    await page.locator('.tree', { hasText: 'line 199' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.list, .decide, .bar').filter({ visible: true }).count()).toBe(0);
    const pdf = (await page.pdf()).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(2);
  });

  test('while a call loads, the call before is faint, and nothing is decided about either', async () => {
    const { origin, token, add } = await desk();
    await add('refund', { to: 'Ada', cents: 1 });
    const second = await add('refund', { to: 'Ada', cents: 2 });
    const { page } = await openTab(origin, { key: token });
    await openRow(page, 0);
    await page.locator('.message', { hasText: 'Refund 1 cents' }).waitFor();
    await sleep(400);
    const asked = Promise.withResolvers<void>();
    await page.route(`**/pendings/${second}`, async (route) => {
      await asked.promise;
      await route.continue();
    });
    await openRow(page, 1);
    const opacity = async () =>
      await page.locator('.call').evaluate((pane) => pane.computedStyleMap().get('opacity')?.toString());
    await expect.poll(opacity).toBe('0.3');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.keyboard.press('a');
    expect(await page.locator('.toast.undo').count()).toBe(0);
    asked.resolve();
    await page.locator('.message', { hasText: 'Refund 2 cents' }).waitFor();
    await expect.poll(opacity).toBe('1');
  });

  test('a person who leaves the page before a decision is sent is asked first', async () => {
    const { origin, token, add } = await desk();
    await add('refund', { to: 'Ada', cents: 1 });
    const { page, offences } = await openTab(origin, { key: token });
    await openRow(page, 0);
    await stopTime(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.toast.undo').waitFor();
    await page.evaluate('location.assign("/console/evals/some-run")');
    await expect.poll(() => offences).toEqual(['dialog: ']);
    // Whoever stays loses nothing.
    await passUndo(page);
    await page.getByText('Approved the call.').waitFor();
  });

  test('no key of arguments is invisible, looks like another one, or hides one in a comparison', async () => {
    const { origin, token, runtime } = await desk();
    const texts = [1, 2].map(
      (n) =>
        `{"cents": 1000000, "": {"cents": ${n}, "": {}}, "a.b": 1, "a": {"b": 2, "\\"b": 3}, " to": 4, "c\\u0435nts": 5, "x\\ny": 6, "u\\u202e": 7, "n": ${n}}`,
    );
    for (const text of texts) await runtime.tools.call('mail', Json.parse(text));
    const { page } = await openTab(origin, { key: token });
    await openRow(page, 0);
    const keys = ['cents', '""', 'cents', '""', '"a.b"', 'a', 'b', '"\\"b"', '" to"', '"cеnts"', '"x\\ny"'];
    await page.locator('.tree').waitFor();
    expect(await page.locator('.tree .key').allInnerTexts()).toEqual([...keys, '"uU+202E"', 'n']);
    for (const key of ['x', 'j', 'x', 'c']) await page.keyboard.press(key);
    await page.locator('.compare').waitFor();
    expect(await page.locator('.same > div').allInnerTexts()).toEqual([
      ...['cents\n1000000', '"".""\n{}', '"a.b"\n1', 'a.b\n2', 'a."\\"b"\n3', '" to"\n4', '"cеnts"\n5'],
      ...['"x\\ny"\n6', '"uU+202E"\n7'],
    ]);
    expect(await page.locator('.compare thead th').allInnerTexts()).toEqual(['Asked by', '"".cents', 'n']);
  });

  test('names, reasons and messages of others have marks wherever they are shown', async () => {
    const name = 'ma\u202era\u200b';
    const { origin, token, runtime } = await serve(
      `approvals: {all: {tools: ["*"], by: [${JSON.stringify(name)}], message: ${JSON.stringify(name)}}}
tools: {wire: {exec: {command: cat}, approval: {}}}
`,
    );
    const caller = { agent: name, session: name, cwd: name };
    for (const tool of [name, `${name}2`])
      await runtime.agents.judge({
        ...{ hook: 'tool', phase: 'before_execution', caller },
        request: { name: tool, args: { [name]: name } },
      });
    const { page } = await openTab(origin, { key: token });
    await openRow(page, 0);
    await page.locator('.decide', { hasText: 'may decide' }).waitFor();
    for (const key of ['x', 'j', 'x']) await page.keyboard.press(key);
    await page.locator('.toast.error', { hasText: 'one tool' }).waitFor();
    const text = await page.evaluate('document.body.textContent');
    expect(text).toContain('maU+202EraU+200B');
    expect(text).not.toMatch(/[\u202e\u200b]/);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.locator('tbody a').first().click();
    await page.locator('h1', { hasText: 'U+202E' }).waitFor();
    expect(await page.evaluate('document.body.textContent')).not.toMatch(/[\u202e\u200b]/);
  });

  test('a failed connection and a failing store keep what was typed, and say so', async () => {
    const { origin, token, add, decisions } = await desk();
    const id = await add('refund', { to: 'Ada', cents: 1 });
    const { page } = await openTab(origin, { key: token, path: `/inbox/${id}` });
    await page.clock.install();
    await page.getByLabel('Reason').fill('fine');
    const failed = {
      status: 503,
      contentType: 'application/json',
      body: '{"error": {"code": "STORE_FAILED", "message": "The store is full."}}',
    };
    await page.route('**/pendings/decisions', async (route) => await route.fulfill(failed));
    await page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(page);
    await page.locator('.toast.error', { hasText: 'The store is full.' }).waitFor();
    await page.unroute('**/pendings/decisions');
    expect(await page.getByLabel('Reason').inputValue()).toBe('fine');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(page);
    await page.locator('.toast.error', { hasText: 'The server does not answer.' }).waitFor();
    await page.context().setOffline(false);
    expect(await page.getByLabel('Reason').inputValue()).toBe('fine');
    await page.getByRole('button', { name: 'Approve' }).click();
    await passUndo(page);
    await expect.poll(decisions).toEqual([{ ...decided, status: 'approved', reason: 'fine' }]);
  });

  test('filters, search and the open call are in the address; an approval that nobody used is a state of its own', async () => {
    const { origin, token, add, runtime } = await desk();
    const used = await add('refund', { to: 'Ada', cents: 1 });
    const id = await add('refund', { to: 'Eve', cents: 2 });
    await add('mail', { to: 'Eve' });
    const { page, offences } = await openTab(origin, { key: token });
    const rows = page.locator('.rows li .tool');
    await expect.poll(async () => await rows.allInnerTexts()).toEqual(['refund', 'refund', 'mail']);
    await page.keyboard.press('/');
    await page.keyboard.type('eve');
    await page.getByLabel('Tool').selectOption('refund');
    await expect.poll(async () => await rows.count()).toBe(1);
    await openRow(page, 0);
    await head(page).waitFor();
    expect(new URL(page.url()).search).toBe('?q=eve&tool=refund');
    expect(new URL(page.url()).pathname).toBe(`/console/inbox/${id}`);
    await runtime.pending.approve(used, { by: 'mara' });
    await runtime.pending.approve(id, { by: 'mara' });
    await page.locator('.decided', { hasText: 'mara has approved this call' }).waitFor();
    await page.goto(`${origin}/console/inbox?state=not_used`);
    await expect
      .poll(async () => await page.locator('.rows .flag').allInnerTexts())
      .toEqual(['approved, not used', 'approved, not used']);
    expect(offences).toEqual([]);
  });

  test('the page shows changes by itself, says that a stream is broken, and notifies of new calls', async () => {
    const { origin, token, add } = await desk();
    const { page } = await openTab(origin, { key: token, permissions: ['notifications'] });
    await page.evaluate(() => {
      const shown: string[] = [];
      class Recorded extends EventTarget {
        static readonly permission = 'granted';
        static async requestPermission() {
          return 'granted';
        }
        constructor(title: string, { body = '' } = {}) {
          super();
          shown.push(`${title}: ${body}`);
        }
      }
      Object.assign(globalThis, { Notification: Recorded, shown });
    });
    await page.getByRole('button', { name: 'Notify me' }).click();
    await add('refund', { to: 'Ada', cents: 12 });
    await page.locator('.rows li').waitFor();
    const shown = async () => await page.evaluate(() => Reflect.get(globalThis, 'shown'));
    await expect.poll(shown).toEqual(['refund: Refund 12 cents to Ada?']);
    await page.route('**/changes**', async (route) => await route.abort());
    await page.reload();
    await page.getByText('No live updates: the connection was lost.').waitFor();
    await add('mail', {});
    await page.unroute('**/changes**');
    await expect.poll(async () => await page.locator('.rows li').count()).toBe(2);
    await expect.poll(async () => await page.locator('.broken').innerText()).toBe('');
  });

  test('on a narrow screen the open call covers the list, and the way back leads to its row', async () => {
    const { origin, token, add, decisions } = await desk();
    for (let cents = 1; cents <= 2; cents += 1) await add('refund', { to: 'Ada', cents });
    const { page, offences } = await openTab(origin, { key: token, viewport: { width: 390, height: 844 } });
    await page.clock.install();
    await openRow(page, 1);
    await page.locator('.call h2:focus').waitFor();
    expect(await page.locator('.rows').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('This decision is about to be sent.').waitFor();
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await page.locator('.rows .flag', { hasText: 'Approving' }).waitFor();
    expect(await page.locator('.call').isVisible()).toBe(false);
    await page.goBack();
    await page.locator('.call h2').waitFor();
    await passUndo(page);
    await expect.poll(decisions).toEqual([undecided, { ...decided, status: 'approved' }]);
    expect(offences).toEqual([]);
  });

  test('without a key the page asks for one, and a key that is refused is forgotten', async () => {
    const { origin, token, add } = await desk();
    const id = await add('refund', { to: 'Ada', cents: 1 });
    const { page } = await openTab(origin, { key: null, path: `/inbox/${id}` });
    await page.getByLabel('Key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The server does not accept this key, or no longer.').waitFor();
    await page.getByLabel('Key').fill(token ?? '');
    await page.keyboard.press('Enter');
    await page.locator('.message', { hasText: 'Refund 1 cents to Ada?' }).waitFor();
    await page.goto(`${origin}/console/inbox/pending_none`);
    await page.getByRole('heading', { name: 'There is no such call' }).waitFor();
    expect(await page.evaluate('[document.cookie, localStorage.length]')).toEqual(['', 0]);
  });

  test('a viewer sees the calls and cannot decide', async () => {
    const { origin, folder, add } = await desk();
    const id = await add('refund', { to: 'Ada', cents: 1 });
    const { key } = await (await keysOf(folder)).create({ name: 'vera', role: 'viewer' });
    const { page } = await openTab(origin, { key, path: `/inbox/${id}` });
    await page.getByText('Your key may look, but not decide.').waitFor();
    expect(await page.locator('footer button').count()).toBe(0);
  });

  test('has no accessibility violations, narrow and wide, light and dark, and zoomed', async () => {
    const { origin, token, add } = await desk();
    for (let cents = 1; cents <= 3; cents += 1) await add('refund', { to: 'Ada', cents });
    const id = await add('mail', { text: 'one\u202e\ntwo', list: [{ a: 1 }], long: 'x'.repeat(30_000) });
    const { page } = await openTab(origin, { key: null });
    await expectAccessibleInAllLooks(page);
    await page.goto(`${origin}/console#key=${token}`);
    await page.reload();
    await page.locator('.rows li').nth(3).waitFor();
    await expectAccessibleInAllLooks(page);
    await page.keyboard.press('?');
    await expectAccessibleInAllLooks(page);
    await page.keyboard.press('Escape');
    for (const each of [0, 1]) await page.locator('.rows li input').nth(each).check();
    await page.getByRole('button', { name: 'Compare 2 and decide' }).click();
    await page.locator('.compare').waitFor();
    await expectAccessibleInAllLooks(page);
    await page.goto(`${origin}/console/inbox/${id}`);
    await page.locator('.tree').waitFor();
    await expectAccessibleInAllLooks(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.locator('.check.good').waitFor();
    await expectAccessibleInAllLooks(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.keyboard.type('no');
    await page.keyboard.press('Enter');
    await page.locator('.toast.undo').waitFor();
    await expectAccessibleInAllLooks(page);
  }, 180_000);
});
