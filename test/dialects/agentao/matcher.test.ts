import { expect, test } from 'vitest';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { findMatcherFaults } from '../../../src/dialects/agentao/matcher.ts';
import { titled } from '../../cite.ts';
import { questionAt, seatAt } from './asking.ts';

type Matcher = Readonly<Record<string, unknown>>;

const hears = (event: string, matcher: Matcher, names: readonly string[]) => {
  const question = questionAt(event);
  const payload =
    event === 'PreCompact' ? { ...question.payload, trigger: names[0] } : { ...question.payload, names };
  return agentao.selects(seatAt(event, { matcher }), { ...question, payload });
};

const bash = ['run_shell_command', 'Bash'];
const rows: readonly { cites: string; matcher: Matcher; names: readonly string[]; hit: boolean }[] = [
  { cites: 'AO-4-01', matcher: {}, names: bash, hit: true },
  { cites: 'AO-4-02', matcher: { tool_name: 'Bash' }, names: bash, hit: true },
  { cites: 'AO-4-02', matcher: { toolName: 'Bash' }, names: bash, hit: true },
  { cites: 'AO-4-02', matcher: { tool_name: 'Read' }, names: bash, hit: false },
  { cites: 'AO-4-02', matcher: { toolName: 'Read' }, names: bash, hit: false },
  { cites: 'AO-4-02', matcher: { tool_name: 'Bash', toolName: 'Read' }, names: bash, hit: false },
  { cites: 'AO-4-02', matcher: { tool_name: 'Bash', toolName: 'run_*' }, names: bash, hit: true },
  { cites: 'AO-4-03', matcher: { tool_name: 'run_shell_command' }, names: bash, hit: true },
  { cites: 'AO-4-04', matcher: { tool_name: 'Ba*' }, names: bash, hit: true },
  { cites: 'AO-4-04', matcher: { tool_name: 'B?sh' }, names: bash, hit: true },
  { cites: 'AO-4-04', matcher: { tool_name: 'as' }, names: bash, hit: false },
  { cites: 'AO-4-04', matcher: { tool_name: '*' }, names: bash, hit: true },
  { cites: 'AO-4-04', matcher: { tool_name: 'Bash|Read' }, names: bash, hit: false },
  { cites: 'AO-4-04', matcher: { tool_name: 'B.sh' }, names: bash, hit: false },
  { cites: 'AO-4-04', matcher: { tool_name: '[B]ash' }, names: bash, hit: false },
  { cites: 'AO-4-05', matcher: { tool_name: '^(Bash|Read)$' }, names: bash, hit: true },
  { cites: 'AO-4-05', matcher: { tool_name: '^Bas$' }, names: bash, hit: false },
  { cites: 'AO-4-06', matcher: { tool_name: 'bash' }, names: bash, hit: false },
  { cites: 'AO-4-11', matcher: { tool_name: null }, names: bash, hit: true },
  { cites: 'AO-4-11', matcher: { tool_name: null, toolName: 'Read' }, names: bash, hit: false },
  { cites: 'AO-4-12', matcher: { toolName: '*[Bb]a*' }, names: bash, hit: true },
  { cites: 'AO-4-12', matcher: { toolName: '*[!B]ash*' }, names: ['Bash'], hit: false },
  { cites: 'AO-4-12', matcher: { toolName: '*[A-C]a*' }, names: bash, hit: true },
  { cites: 'AO-4-12', matcher: { toolName: '*[]B]ash*' }, names: bash, hit: true },
  { cites: 'AO-4-12', matcher: { toolName: '*[B*' }, names: bash, hit: false },
  { cites: 'AO-4-12', matcher: { toolName: '*[b-a]*' }, names: bash, hit: false },
  { cites: 'AO-4-12', matcher: { toolName: '[B]*' }, names: bash, hit: false },
  { cites: 'AO-4-12', matcher: { toolName: 'Bas*ash' }, names: bash, hit: true },
  { cites: 'AO-4-08', matcher: { toolName: ['Bash'] }, names: bash, hit: false },
  { cites: 'AO-4-09', matcher: { toolname: 'Read' }, names: bash, hit: true },
];

test.each(titled(rows.map((row) => ({ ...row, title: `${JSON.stringify(row.matcher)} hears: ${row.hit}` }))))(
  '$title',
  ({ matcher, names, hit }) => {
    expect(hears('PreToolUse', matcher, names)).toBe(hit);
  },
);

const triggers = [
  { pattern: 'manual', hit: true },
  { pattern: 'man*', hit: true },
  { pattern: 'manual|auto', hit: true },
  { pattern: 'man', hit: false },
  { pattern: '^man', hit: false },
  { pattern: '^man.*$', hit: true },
  { pattern: '(manual', hit: false },
  { pattern: 1, hit: false },
];

test.each(triggers)('the trigger $pattern matches manual: $hit [AO-4-07]', ({ pattern, hit }) => {
  expect(hears('PreCompact', { trigger: pattern }, ['manual'])).toBe(hit);
});

test.each(['Stop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit'])(
  'a matcher on %s is ignored [AO-4-09]',
  (event) => {
    expect(agentao.selects(seatAt(event, { matcher: { tool_name: 'x' } }), questionAt(event))).toBe(true);
    expect(findMatcherFaults(event, { tool_name: 'x' }).map(({ severity }) => severity)).toEqual(['warning']);
  },
);

test.each([
  { matcher: { toolName: 'Bash' }, hit: false },
  { matcher: { toolName: '*' }, hit: true },
  { matcher: { toolName: '' }, hit: true },
  { matcher: { toolName: null }, hit: true },
  { matcher: { toolName: 5 }, hit: false },
])('on a session $matcher is compared with no name: $hit [AO-4-13]', ({ matcher, hit }) => {
  for (const event of ['SessionStart', 'SessionEnd']) {
    expect(agentao.selects(seatAt(event, { matcher }), questionAt(event))).toBe(hit);
    const [fault] = findMatcherFaults(event, matcher);
    expect(fault?.message).toContain(hit ? 'runs every time' : 'never runs');
  }
});

const tools = [
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['replace', 'Edit'],
  ['run_shell_command', 'Bash'],
  ['glob', 'Glob'],
  ['search_file_content', 'Grep'],
  ['web_fetch', 'WebFetch'],
  ['web_search', 'WebSearch'],
  ['list_directory', 'LS'],
  ['save_memory', 'SaveMemory'],
  ['ask_user', 'AskUser'],
  ['todo_write', 'TodoWrite'],
  ['plan_save', 'PlanSave'],
  ['plan_finalize', 'PlanFinalize'],
  ['activate_skill', 'ActivateSkill'],
] as const;

test.each(tools)(
  '%s is %s to a matcher, either way, and Claude’s name to a rule [AO-4-03 AO-4-10]',
  (own, other) => {
    for (const toolName of [own, other]) {
      const question = questionAt('PreToolUse', { payload: { toolName } });
      const heard = [own, other].map((tool_name) =>
        agentao.selects(seatAt('PreToolUse', { matcher: { tool_name } }), question),
      );
      expect([heard, question.payload['data']]).toMatchObject([[true, true], { toolName: other }]);
    }
  },
);

const faults = [
  { cites: 'AO-4-09', event: 'PreToolUse', matcher: { toolname: 'x' }, severities: ['warning'] },
  { cites: 'AO-4-08', event: 'PreToolUse', matcher: { tool_name: 1 }, severities: ['warning'] },
  { cites: 'AO-4-11', event: 'PreToolUse', matcher: { tool_name: null }, severities: [] },
  { cites: 'AO-4-05', event: 'PostToolUse', matcher: { tool_name: '^($' }, severities: ['error'] },
  { cites: 'AO-4-05', event: 'PostToolUse', matcher: { tool_name: '^.*$' }, severities: [] },
  { cites: 'AO-4-07', event: 'PreCompact', matcher: { trigger: '(manual' }, severities: [] },
  { cites: 'AO-4-09', event: 'PreCompact', matcher: { tool_name: 'x' }, severities: ['warning'] },
];

test.each(titled(faults.map((row) => ({ ...row, title: `${row.event} ${JSON.stringify(row.matcher)}` }))))(
  'at load: $title',
  ({ event, matcher, severities }) => {
    expect(findMatcherFaults(event, matcher).map(({ severity }) => severity)).toEqual(severities);
  },
);
