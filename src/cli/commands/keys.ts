import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type {
  KeyDetails,
  KeyDocument,
  KeyManager,
  NewKey,
  UsageDocument,
} from '../../runtime/gateway/keys.ts';
import { type CommandContext, command, type Flags, group, type Outcome } from '../command.ts';
import { readAge } from '../input.ts';
import { formatFields } from '../show/columns.ts';

const createOptions = {
  '--models <names>': 'the only models that the key may call, separated by commas',
  '--hooks <set>': 'the set of spec.gateway.hooks for its calls (default: all hooks)',
  '--role <role>': [
    'what the key may do with pending calls: viewer reads, approver also decides, admin also calls every tool',
    { choices: ['viewer', 'approver', 'admin'] },
  ],
  '--tools <patterns>':
    'the tools that the key may call over HTTP, by names with * and ?, separated by commas',
  '--expires <when>': 'a date, or a duration such as 90d',
  '--requests-per-minute <n>': 'the most requests in any 60 seconds',
  '--tokens-per-minute <n>': 'the most tokens in any 60 seconds',
  '--concurrent <n>': 'the most calls at once',
  '--budget-day <usd>': 'US dollars per day, in UTC',
  '--budget-month <usd>': 'US dollars per month, in UTC',
  '--budget-total <usd>': 'US dollars in total',
} as const;

const create = command('create <name>', {
  about: 'create a key; it is printed once and not stored',
  options: createOptions,
  examples: `
Examples:
  signalbox keys create team-a
  signalbox keys create ci --models small,large --hooks strict --expires 90d
  signalbox keys create agent --tools 'search_*,read_file'
  signalbox keys create mara --role approver
  signalbox keys create demo --requests-per-minute 60 --concurrent 4 --budget-day 2.50
  signalbox keys create ci --json | jq -r .key | vault kv put secret/ci key=-

More: docs/guides/limit-callers.md`,
  run: async (context, flags, name) =>
    await withKeys(context, async (keys) => {
      const created = await keys.create(await readNewKey(name, flags, Date.now()));
      const note = `${created.id} "${name}": this is the only time that the key is shown`;
      return { document: created, text: created.key, note };
    }),
});

const list = command('list', {
  about: 'show the keys that are in use',
  options: { '--all': 'also show revoked and expired keys' },
  examples: `
Examples:
  signalbox keys list
  signalbox keys list --all --json | jq '.keys[] | {name, status}'`,
  run: async (context, { all }) =>
    await withKeys(context, async (manager) => {
      const keys = (await manager.list()).filter(({ status }) => all || status === 'active');
      const rows = keys.map((key) => {
        const { models, tools, role } = rightsOf(key);
        return [
          key.id,
          key.name,
          key.status,
          models,
          key.hooks ?? 'all',
          tools,
          role,
          key.expires_at ?? 'never',
        ];
      });
      const names = ['key', 'name', 'status', 'models', 'hooks', 'tools', 'role', 'expires'];
      return { document: { keys }, table: { names, rows, none: 'there are no keys' } };
    }),
});

const show = command('show <key>', {
  about: 'show the limits of a key, and what it has used',
  examples: `
Examples:
  signalbox keys show team-a
  signalbox keys show team-a --json | jq '.usage[] | {period, cost}'`,
  run: async (context, _flags, which) =>
    await withKeys(context, async (keys) => {
      const details = await keys.show(which);
      return { document: details, text: detailsText(details) };
    }),
});

const revoke = command('revoke <key>', {
  about: 'revoke a key; running servers refuse its next call',
  examples: `
Examples:
  signalbox keys revoke team-a
  signalbox keys revoke key_3f2a51c09b1e`,
  run: async (context, _flags, which) =>
    await withKeys(context, async (keys) => {
      const revoked = await keys.revoke(which);
      const { id, name, revoked_at } = revoked;
      return { document: revoked, note: `${id} "${name}" was revoked at ${revoked_at}` };
    }),
});

const rotate = command('rotate <key>', {
  about: 'replace the secret of a key; the previous secret ends after the grace time, older ones at once',
  options: { '--grace <duration>': ['how long the previous secret stays valid', { default: '24h' }] },
  examples: `
Examples:
  signalbox keys rotate team-a
  signalbox keys rotate team-a --grace 0s`,
  run: async (context, { grace }, which) =>
    await withKeys(context, async (keys) => {
      const rotated = await keys.rotate(which, await readAge('--grace', grace));
      const { id, name, key } = rotated;
      return { document: rotated, text: key, note: `${id} "${name}": the previous secret ends in ${grace}` };
    }),
});

export const keysCommands = group('keys', {
  about: 'create, show and revoke the keys of callers: of models, tools and pending calls',
  examples: `
Examples:
  signalbox keys create team-a --models small --budget-month 50
  signalbox keys list
  signalbox keys revoke team-a

Give the name of a key, or its id. Keys are stored in keys.db beside the state store of --config,
or in its database.`,
  commands: [create, list, show, revoke, rotate],
});

async function withKeys(
  { options }: CommandContext,
  work: (keys: KeyManager) => Promise<Outcome>,
): Promise<Outcome> {
  const { openKeys } = await import('../../runtime/gateway/keys.ts');
  const keys = await openKeys(options.config, options.overlays);
  try {
    return await work(keys);
  } finally {
    await keys.close();
  }
}

/** `at`: milliseconds since 1970. Throws USAGE. */
async function readNewKey(name: string, flags: Flags<typeof createOptions>, at: number): Promise<NewKey> {
  return {
    ...{ name, hooks: flags.hooks, role: flags.role },
    models: splitNames(flags.models),
    tools: splitNames(flags.tools),
    expiresAt: flags.expires === undefined ? undefined : await readExpiry(flags.expires, at),
    requestsPerMinute: readNumber('--requests-per-minute', flags.requestsPerMinute),
    tokensPerMinute: readNumber('--tokens-per-minute', flags.tokensPerMinute),
    concurrent: readNumber('--concurrent', flags.concurrent),
    budget: {
      day: readNumber('--budget-day', flags.budgetDay),
      month: readNumber('--budget-month', flags.budgetMonth),
      total: readNumber('--budget-total', flags.budgetTotal),
    },
  };
}

function splitNames(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw new RuntimeError('USAGE', `${option} must be a number, not "${text}"`);
}

async function readExpiry(text: string, at: number): Promise<number> {
  const { parseDuration } = await import('../../runtime/gateway/keys.ts');
  const ms = parseDuration(text);
  if (ms !== undefined) return at + ms;
  const date = dateForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw new RuntimeError('USAGE', `--expires must be a date or a duration, not "${text}"`, {
    hint: 'Write it like 2027-01-31, 2027-01-31T12:00:00Z, 12h or 90d.',
  });
}

/** A date is midnight in UTC. A time requires a zone, so that it is the same moment on every machine. */
const dateForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function detailsText(details: KeyDetails): string {
  const { budget, secrets, usage } = details;
  const { models, tools, role } = rightsOf(details);
  const limit = (value: number | null, what: string, how: string) =>
    value === null ? 'no limit' : `at most ${formatCount(value, what)} ${how}`;
  const spent = (value: number | null, period: string) =>
    value === null ? `no limit ${period}` : `at most $${value} ${period}`;
  const fields: [string, string][] = [
    ['id', details.id],
    ['name', details.name],
    ['status', details.status],
    ['models', models],
    ['hooks', details.hooks === null ? 'all' : escapeInvisibleLine(details.hooks)],
    ['tools', tools],
    ['role', role],
    ['created', details.created_at],
    ['expires', details.expires_at ?? 'never'],
    ...(details.revoked_at === null ? [] : [['revoked', details.revoked_at] satisfies [string, string]]),
    ['requests', limit(details.requests_per_minute, 'request', 'a minute')],
    ['tokens', limit(details.tokens_per_minute, 'token', 'a minute')],
    ['concurrent', `${limit(details.concurrent, 'call', 'at a time')}, ${details.under_way} in progress`],
    [
      'budget',
      `${spent(budget.day, 'a day')}, ${spent(budget.month, 'a month')}, ${spent(budget.total, 'in total')}`,
    ],
    ...secrets.map(({ begins, expires_at }): [string, string] => [
      'secret',
      `${begins} until ${expires_at ?? 'the key ends'}`,
    ]),
    ...usage.map((each): [string, string] => [each.period, usageText(each)]),
  ];
  return formatFields(fields);
}

function rightsOf({ models, tools, role, scopes }: KeyDocument) {
  const list = (names: readonly string[]) => names.map(escapeInvisibleLine).join(', ') || 'none';
  return {
    models: models === null ? 'all' : list(models),
    tools: tools === null ? (scopes.includes('tools:call') ? 'all' : 'none') : list(tools),
    role: role ?? 'none',
  };
}

function usageText({ calls, input_tokens, output_tokens, cost, estimated }: UsageDocument): string {
  const unknown = estimated === 0 ? '' : `, ${estimated} of them estimated`;
  return `${formatCount(calls, 'call')}${unknown}; ${input_tokens} tokens in, ${output_tokens} out; $${cost}`;
}
