import { expect, test } from 'vitest';
import { configText, native, told } from '../told.ts';

const patterns = `patterns: [{name: EMPLOYEE_ID, pattern: 'EMP-\\d{6}', context: [employee]}]`;

function read(pii: string, env = '') {
  const spec = `
pii: {${pii}}
hooks:
  pii: {command: node_modules/.bin/signalbox-pii, hook: provider${env}}
  other: {command: sh, hook: provider}
`;
  const { config, problems } = told(configText(native, spec.replaceAll('\n', '\n  ')));
  const own = problems.filter((problem) => problem.includes('spec.pii') || problem.includes('patterns'));
  return { env: config?.hooks.map(({ exec }) => exec.env), problems: own };
}

test('spec.pii reaches signalbox-pii, and no other program', () => {
  expect(read(`${patterns}, scan: [user, tool]`).env).toEqual([
    [
      'SIGNALBOX_PII_PATTERNS=[{"name":"EMPLOYEE_ID","pattern":"EMP-\\\\d{6}","context":["employee"]}]',
      'SIGNALBOX_PII_SCAN=user,tool',
    ],
    [],
  ]);
});

test('a variable of the entry itself wins', () => {
  expect(read('scan: [user]', ', env: [SIGNALBOX_PII_SCAN=system]').env).toEqual([
    ['SIGNALBOX_PII_SCAN=system'],
    [],
  ]);
});

test.each([
  ['lookbehind', `patterns: [{name: A_B, pattern: '(?<=a)b'}]`],
  ['what matches nothing', `patterns: [{name: A_B, pattern: 'a*'}]`],
  ['a name of the package', `patterns: [{name: CREDIT_CARD, pattern: 'a'}]`],
  ['a name twice', `patterns: [{name: A_B, pattern: 'a'}, {name: A_B, pattern: 'b'}]`],
])('%s is a problem of the file', (_title, pii) => {
  expect(read(pii).problems.length).toBeGreaterThan(0);
});
