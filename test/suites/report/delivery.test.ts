import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type Delivery,
  openDelivery,
  type ReporterSpec,
  readReporter,
  reporters,
} from '../../../src/suites/report/delivery.ts';
import { toReportDocument } from '../../../src/suites/report/json.ts';
import { reporterNames } from '../../../src/suites/report/reporter.ts';
import { renderTable } from '../../../src/suites/report/terminal/table.ts';
import { caseOf, evalResultOf, headerOf, newTextSink, reporterOf, reportOf } from './reports.ts';

const report = reportOf({});
const json = `${JSON.stringify(toReportDocument(report))}\n`;

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'deliver-'));
}

async function run({ reporter }: Delivery, { isWhole = true } = {}): Promise<void> {
  await reporter.begin(headerOf());
  await reporter.onCase(caseOf([evalResultOf()]));
  if (isWhole) await reporter.end(report);
}

test('several reporters write at the same time, one of them to stdout', async () => {
  const folder = newFolder();
  const stdout = newTextSink();
  const specs: ReporterSpec[] = [
    { name: 'table' },
    { name: 'json', file: join(folder, 'new', 'folder', 'report.json') },
    { name: 'csv', file: join(folder, 'report.csv') },
  ];
  const delivery = await openDelivery(specs, { stdout });
  await run(delivery);
  await delivery.close();
  expect(stdout.text()).toBe(renderTable(report, false));
  expect(readFileSync(join(folder, 'new', 'folder', 'report.json'), 'utf8')).toBe(json);
  expect(readFileSync(join(folder, 'report.csv'), 'utf8').split('\r\n')).toHaveLength(3);
  expect(readdirSync(folder)).toEqual(['new', 'report.csv']);
});

test('if no folder can be created, the system’s error is reported', async () => {
  const file = '/proc/none/deep/report.xml';
  await expect(openDelivery([{ name: 'junit', file }], { stdout: newTextSink() })).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(/^\/proc\/none\/deep\/report\.xml cannot be written: ENOENT/),
  });
});

test('until it is closed, a reader sees the previous file', async () => {
  const folder = newFolder();
  const file = join(folder, 'report.json');
  writeFileSync(file, 'before');
  const delivery = await openDelivery([{ name: 'json', file }], { stdout: newTextSink() });
  await run(delivery);
  expect(readFileSync(file, 'utf8')).toBe('before');
  await delivery.close();
  expect(readFileSync(file, 'utf8')).toBe(json);
  expect(readdirSync(folder)).toEqual(['report.json']);
});

test.each([
  { title: 'aborted', isWhole: true, finish: (delivery: Delivery) => delivery.abort() },
  { title: 'closed without an end', isWhole: false, finish: (delivery: Delivery) => delivery.close() },
])('a run that is $title leaves only the previous file', async ({ isWhole, finish }) => {
  const folder = newFolder();
  const file = join(folder, 'report.xml');
  writeFileSync(file, 'before');
  const specs: ReporterSpec[] = [
    { name: 'junit', file },
    { name: 'html', file: join(folder, 'page.html') },
  ];
  const delivery = await openDelivery(specs, { stdout: newTextSink() });
  await run(delivery, { isWhole });
  await finish(delivery);
  await delivery.abort();
  expect(readdirSync(folder)).toEqual(['report.xml']);
  expect(readFileSync(file, 'utf8')).toBe('before');
});

test('JSON Lines are written at once, and stay when the run is aborted', async () => {
  const file = join(newFolder(), 'run.jsonl');
  const delivery = await openDelivery([{ name: 'jsonl', file }], { stdout: newTextSink() });
  await run(delivery, { isWhole: false });
  const lines = readFileSync(file, 'utf8').split('\n');
  await delivery.abort();
  expect(lines).toHaveLength(3);
  expect(readFileSync(file, 'utf8').split('\n')).toEqual(lines);
});

test('a link stays a link, and its target is written', async () => {
  const folder = newFolder();
  const target = join(folder, 'target.json');
  writeFileSync(target, 'before');
  symlinkSync(target, join(folder, 'link.json'));
  const delivery = await openDelivery([{ name: 'json', file: join(folder, 'link.json') }], {
    stdout: newTextSink(),
  });
  await run(delivery);
  await delivery.close();
  expect(readFileSync(target, 'utf8')).toBe(json);
});

test('a pipe is written to, and not replaced by a file', async () => {
  const file = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [file]);
  const pipe = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  const delivery = await openDelivery([{ name: 'json', file }], { stdout: newTextSink() });
  await run(delivery);
  await delivery.close();
  const buffer = Buffer.alloc(64 * 1024);
  expect(buffer.toString('utf8', 0, readSync(pipe, buffer))).toBe(json);
  closeSync(pipe);
});

test('a file keeps its permissions', async () => {
  const file = join(newFolder(), 'report.json');
  writeFileSync(file, 'before', { mode: 0o600 });
  const delivery = await openDelivery([{ name: 'json', file }], { stdout: newTextSink() });
  await run(delivery);
  await delivery.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a full disk is reported with the file', async () => {
  const delivery = await openDelivery([{ name: 'jsonl', file: '/dev/full' }], { stdout: newTextSink() });
  await expect(delivery.reporter.begin(headerOf())).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: '/dev/full cannot be written: the disk is full',
  });
  await delivery.abort();
});

test('a file that cannot be written fails before stdout reports the end', async () => {
  const stdout = newTextSink();
  const specs: ReporterSpec[] = [{ name: 'table' }, { name: 'json', file: '/dev/full' }];
  const delivery = await openDelivery(specs, { stdout });
  await expect(run(delivery)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  expect(stdout.text()).toBe('');
  await delivery.abort();
});

test('a long run that is aborted leaves no temporary file', async () => {
  const delivery = await openDelivery([{ name: 'junit' }], { stdout: newTextSink() });
  await delivery.reporter.begin(headerOf());
  await delivery.reporter.onCase(caseOf([evalResultOf({ passed: false, detail: 'x'.repeat(300_000) })]));
  expect(openTemporaryFiles()).toHaveLength(1);
  await delivery.abort();
  expect(openTemporaryFiles()).toEqual([]);
});

/** Files that are open and unlinked. */
function openTemporaryFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(tmpdir()) && path.endsWith(' (deleted)') ? [path] : [];
    } catch {
      return []; // The descriptor that listed the folder is already closed.
    }
  });
}

const [inFolder, plainFile] = [newFolder(), join(newFolder(), 'file')];
writeFileSync(plainFile, '');
mkdirSync(join(inFolder, 'taken'));

test.each([
  { title: 'a folder', file: join(inFolder, 'taken'), says: 'is a folder' },
  {
    title: 'below a file',
    file: join(plainFile, 'x.json'),
    says: 'cannot be created: a part of its path is a file',
  },
  {
    title: 'below a file, deeper',
    file: join(plainFile, 'y', 'x.json'),
    says: 'cannot be created: a part of its path is a file',
  },
])('a destination that is $title is refused before anything runs', async ({ file, says }) => {
  const folder = newFolder();
  const specs: ReporterSpec[] = [
    { name: 'csv', file: join(folder, 'first.csv') },
    { name: 'json', file },
  ];
  await expect(openDelivery(specs, { stdout: newTextSink() })).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: `${file} ${says}`,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that can no longer be written is named, and the others are moved into place', async () => {
  const [folder, gone] = [newFolder(), join(newFolder(), 'gone')];
  const specs: ReporterSpec[] = [
    { name: 'json', file: join(gone, 'report.json') },
    { name: 'csv', file: join(folder, 'report.csv') },
  ];
  const delivery = await openDelivery(specs, { stdout: newTextSink() });
  await run(delivery);
  await rename(gone, `${gone}-moved`);
  await expect(delivery.close()).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringContaining(join(gone, 'report.json')),
  });
  expect(existsSync(join(folder, 'report.csv'))).toBe(true);
});

test.each([
  { title: 'stdout', specs: [{ name: 'table' }, { name: 'json' }], place: 'stdout' },
  {
    title: 'one file',
    specs: [
      { name: 'csv', file: '/tmp/x' },
      { name: 'json', file: '/tmp/./x' },
    ],
    place: 'the file /tmp/x',
  },
] as const)('two reporters cannot share $title', async ({ specs, place }) => {
  await expect(openDelivery(specs, { stdout: newTextSink() })).rejects.toMatchObject({
    code: 'USAGE',
    message: `two reporters write to ${place}`,
  });
});

test('a slow writer is awaited, and so are the reporters before it', async () => {
  const { promise: isWritten, resolve: finish } = Promise.withResolvers<void>();
  const file = join(newFolder(), 'run.jsonl');
  const stdout = { ...newTextSink(), write: () => isWritten };
  const delivery = await openDelivery([{ name: 'csv' }, { name: 'jsonl', file }], { stdout });
  await delivery.reporter.begin(headerOf());
  const before = readFileSync(file, 'utf8');
  const told = delivery.reporter.onCase(caseOf([evalResultOf()])).then(() => 'told');
  expect(await Promise.race([told, nextTurn('waits')])).toBe('waits');
  expect(readFileSync(file, 'utf8')).toBe(before);
  finish();
  expect(await told).toBe('told');
  expect(readFileSync(file, 'utf8')).not.toBe(before);
  await delivery.abort();
});

test.each([
  { text: 'json', spec: { name: 'json' } },
  { text: 'json=-', spec: { name: 'json' } },
  { text: 'junit=a=b.xml', spec: { name: 'junit', file: 'a=b.xml' } },
])('$text is read', ({ text, spec }) => {
  expect(readReporter(text)).toEqual(spec);
});

test.each([
  { text: 'jnuit', message: 'there is no reporter "jnuit"', hint: 'did you mean `junit`?' },
  {
    text: 'xyz=a',
    message: 'there is no reporter "xyz"',
    hint: `known reporters: ${reporterNames.join(', ')}`,
  },
  { text: 'json=', message: '--reporter json= has no file name', hint: 'Write json=FILE, or json.' },
])('$text is refused', ({ text, message, hint }) => {
  expect(() => readReporter(text)).toThrow(expect.objectContaining({ code: 'USAGE', message, hint }));
});

test.each(reporterNames)('the reporter %s can be opened and writes a whole run', async (name) => {
  const sink = newTextSink();
  const reporter = await reporterOf(reporters[name].open)(sink);
  await reporter.begin(headerOf());
  await reporter.onCase(caseOf([evalResultOf()]));
  await reporter.end(report);
  expect(sink.text()).not.toBe('');
});

test('the documentation names every reporter with its purpose', () => {
  const text = readFileSync(new URL('../../../docs/guides/report-results.md', import.meta.url), 'utf8');
  const missing = reporterNames.filter(
    (name) => !text.includes(`| \`${name}\` | ${reporters[name].summary} |`),
  );
  expect(missing).toEqual([]);
});
