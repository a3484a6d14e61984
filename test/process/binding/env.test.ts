import { expect, test } from 'vitest';
import { closeEnv, hostEnv } from '../../../src/process/env.ts';

const host = {
  PATH: '/bin',
  HOME: '/home/ada',
  LANG: 'C',
  LC_ALL: 'C.UTF-8',
  LC_TIME: 'de_DE',
  TZ: 'UTC',
  TMPDIR: '/tmp',
  USER: 'ada',
  API_KEY: 'sk-1234',
  EMPTY: '',
  NODE_OPTIONS: '--inspect',
  LD_PRELOAD: '/lib/evil.so',
};
const always = {
  PATH: '/bin',
  HOME: '/home/ada',
  LANG: 'C',
  LC_ALL: 'C.UTF-8',
  LC_TIME: 'de_DE',
  TZ: 'UTC',
  TMPDIR: '/tmp',
  USER: 'ada',
};

test.each([
  { title: 'nothing: only what every process gets', entries: [], adds: {}, secrets: [], missing: [] },
  {
    title: 'a name: the host’s value, which is a secret',
    entries: ['API_KEY'],
    adds: { API_KEY: 'sk-1234' },
    secrets: ['sk-1234'],
    missing: [],
  },
  {
    title: 'a name whose value is empty',
    entries: ['EMPTY'],
    adds: { EMPTY: '' },
    secrets: [''],
    missing: [],
  },
  { title: 'a name that the host lacks', entries: ['GONE'], adds: {}, secrets: [], missing: ['GONE'] },
  {
    title: 'names that every object has and no environment',
    entries: ['constructor', 'toString', '__proto__'],
    adds: {},
    secrets: [],
    missing: ['constructor', 'toString', '__proto__'],
  },
  { title: 'a literal', entries: ['MODE=fast'], adds: { MODE: 'fast' }, secrets: [], missing: [] },
  { title: 'an empty literal', entries: ['MODE='], adds: { MODE: '' }, secrets: [], missing: [] },
  {
    title: 'a literal with = in it',
    entries: ['QUERY=a=1&b==2='],
    adds: { QUERY: 'a=1&b==2=' },
    secrets: [],
    missing: [],
  },
  {
    title: 'a literal that is not expanded',
    entries: ['RAW=$HOME/${PATH}'],
    adds: { RAW: '$HOME/${PATH}' },
    secrets: [],
    missing: [],
  },
  {
    title: 'a literal in the place of what every process gets',
    entries: ['PATH=/opt/bin', 'LC_TIME=C'],
    adds: { PATH: '/opt/bin', LC_TIME: 'C' },
    secrets: [],
    missing: [],
  },
  {
    title: 'names that every process gets anyway: no secrets',
    entries: ['HOME', 'LC_ALL'],
    adds: {},
    secrets: [],
    missing: [],
  },
  {
    title: 'a name twice: the last entry counts',
    entries: ['API_KEY', 'API_KEY=none'],
    adds: { API_KEY: 'none' },
    secrets: ['sk-1234'],
    missing: [],
  },
])('an entry lists $title', ({ entries, adds, secrets, missing }) => {
  expect(closeEnv(entries, host)).toEqual({ variables: { ...always, ...adds }, secrets, missing });
});

test('a usual variable that the host lacks is not reported as missing', () => {
  expect(closeEnv([], { PATH: '/bin', LANG: undefined })).toEqual({
    variables: { PATH: '/bin' },
    secrets: [],
    missing: [],
  });
});

test('the host’s environment is that of this process', () => {
  expect(hostEnv()['PATH']).toBe(process.env['PATH']);
});
