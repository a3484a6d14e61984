import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { sensitivityOf } from '../../../src/dialects/chibi/permission.ts';
import { findPath } from '../../../src/runtime/stages/wire.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { questionAt, scene, seatOf } from './asking.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly category?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sends: string;
}

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | category | args | sends
  a relative file | CH-6-06@oneshot CH-7-15@oneshot | fs_read | ${{ path: '../a' }} | pre_file_read {"path":"/a","tool_name":"t"}
  an absolute file | CH-6-06@oneshot | fs_read | ${{ path: '/etc/./passwd' }} | pre_file_read {"path":"/etc/passwd","tool_name":"t"}
  a virtual file | CH-6-11@oneshot | fs_read | ${{ path: 'vfs:///a' }} | nothing
  a file that is named as in Claude Code | CH-6-06@oneshot | fs_read | ${{ file_path: '/etc/passwd' }} | pre_file_read {"path":"/etc/passwd","tool_name":"t"}
  a path that is no text | CH-6-06@oneshot | fs_read | ${{ path: ['/etc/passwd'], file_path: 'a' }} | ${'pre_file_read {"path":"/project/[\\"/etc/passwd\\"]","tool_name":"t"}'}
  no file | CH-6-11@oneshot | fs_write | ${{ content: 'c' }} | nothing
  a written file | CH-6-07@oneshot CH-7-16@oneshot | fs_write | ${{ path: 'a/b', content: 'c' }} | pre_file_write {"content":"c","path":"/project/a/b","tool_name":"t"}
  an edited file | CH-6-07@oneshot | fs_write | ${{ path: '/b', operation: 'replace' }} | pre_file_write {"content":null,"operation":"replace","path":"/b","tool_name":"t"}
  content that is no text | CH-6-07@oneshot | fs_write | ${{ path: '/b', content: { a: 1 } }} | ${'pre_file_write {"content":"{\\"a\\":1}","path":"/b","tool_name":"t"}'}
  a command | CH-6-08@oneshot CH-7-17@oneshot | shell | ${{ command: 'ls' }} | pre_shell_exec {"command":"ls","tool_name":"t"}
  a shell without a command | CH-6-08@oneshot | shell | ${{}} | pre_shell_exec {"command":"","tool_name":"t"}
  an ordinary url | CH-6-10@oneshot | network | ${{ url: 'https://example.com/' }} | nothing
  a tool without category | CH-6-11@oneshot |  | ${{ path: '/a', command: 'ls' }} | nothing
  a category that chibi asks nobody about | CH-6-11@oneshot | memory | ${{ path: '/a' }} | nothing
`,
  {
    title: 'a file beside a path that names none',
    cites: 'CH-6-07@oneshot',
    category: 'fs_write',
    args: { path: '', file_path: '/etc/passwd' },
    sends: 'pre_file_write {"content":null,"path":"/etc/passwd","tool_name":"t"}',
  },
  {
    title: 'content of null, and an operation that is no text',
    cites: 'CH-6-07@oneshot',
    category: 'fs_write',
    args: { path: '/b', content: null, operation: 5 },
    sends: 'pre_file_write {"content":null,"path":"/b","tool_name":"t"}',
  },
  {
    title: 'a network tool without url',
    cites: 'CH-6-09@oneshot CH-7-18@oneshot',
    category: 'network',
    args: { side: 'buy', count: 10, url: '' },
    sends: 'pre_fetch_url {"safety":"no_url","summary":"buy 10 ","tool_name":"t"}',
  },
  {
    title: 'a network tool with a url that is no text',
    cites: 'CH-6-09@oneshot',
    category: 'network',
    args: { url: 5, list: [1], object: {}, nothing: null, sure: true },
    sends: 'pre_fetch_url {"safety":"no_url","summary":"5 true","tool_name":"t"}',
  },
  {
    title: 'a sensitive url',
    cites: 'CH-6-10@oneshot CH-7-18@oneshot',
    category: 'network',
    args: { url: 'http://localhost:1/' },
    sends:
      'pre_fetch_url {"reason":"loopback address","safety":"sensitive","tool_name":"t","url":"http://localhost:1/"}',
  },
];

test.each(titled(rows))('$title', ({ category, args, sends }) => {
  const request = { name: 't', args: Json.from(args), call_id: 'c', category };
  const event: HookEvent = { hook: 'tool', phase: 'approval', request, asked: null };
  const [point] = chibi.pointsAt(event);
  const body =
    point === undefined
      ? 'nothing'
      : `${point} ${chibi.encode(seatOf('g'), questionAt(point, chibi.describe(point, event, scene))).body}`;
  expect(body).toBe(sends);
});

test('a path that is not a text counts as unknown', () => {
  const at = (args: object) => findPath('/project', Json.from(args));
  expect([at({ path: ['/etc'], file_path: 'a' }), at({ path: '', file_path: 'a' })]).toEqual([
    undefined,
    '/project/a',
  ]);
});

const files = [
  { realPath: '/project/a/b', isAsked: false },
  { realPath: '/project', isAsked: false },
  { realPath: '/project/../etc/passwd', isAsked: true },
  { realPath: '/projects/a', isAsked: true },
  { realPath: '/etc/passwd', isAsked: true },
  { realPath: undefined, isAsked: true },
];

test.each(files)(
  'a file at $realPath is asked about: $isAsked [CH-6-06@oneshot]',
  ({ realPath, isAsked }) => {
    const at = (point: string) => chibi.selects(seatOf('g'), questionAt(point, {}, { ...scene, realPath }));
    expect([at('pre_file_read'), at('pre_file_write')]).toEqual([isAsked, true]);
  },
);

const urls = [
  [
    'loopback address',
    [
      'http://127.0.0.1/',
      'http://127.1/',
      'http://0x7f.0.0.1',
      'http://2130706433/',
      'http://[::1]:8/',
      'http://LOCALHOST./',
      'http://a.localhost/',
      'http://0.0.0.0/',
      'http://[::ffff:127.0.0.1]/',
      'http://user@localhost/',
    ],
  ],
  [
    'private network address',
    [
      'http://10.1.2.3/',
      'http://172.16.0.1/',
      'http://172.31.255.255/',
      'https://192.168.1.1/',
      'http://[fd00::1]/',
      'http://[::ffff:10.0.0.1]/',
    ],
  ],
  ['link-local address', ['http://169.254.1.1/', 'http://[fe80::1]/']],
  ['cloud metadata endpoint', ['http://169.254.169.254/latest', 'http://[::ffff:169.254.169.254]/']],
  [
    'could not parse URL',
    ['example.com', '//example.com', 'http://', 'file:///etc/passwd', 'not a url', 'mailto:a@b'],
  ],
  [
    undefined,
    [
      'https://example.com/',
      'http://8.8.8.8/',
      'http://172.32.0.1/',
      'http://[2606:4700::1111]/',
      'http://localhost.example.com/',
      'http://metadata.google.internal/',
    ],
  ],
] as const;

test.each(urls)('%s [CH-6-10@oneshot CH-6-12@oneshot]', (reason, given) => {
  expect(given.map((url) => [url, sensitivityOf(url)])).toEqual(given.map((url) => [url, reason]));
});
