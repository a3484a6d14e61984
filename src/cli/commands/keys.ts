import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import type { KeyManager, NewKey } from '../../runtime/gateway/keys.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { readAge } from '../show/age.ts';
import { detailsText, rowOfKey } from '../show/key.ts';

/** `keys create`, `list`, `show`, `revoke` and `rotate`. */
export function addKeysCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('keys')
    .description('give keys of the gateway to its callers, and take them back')
    .addHelpText('after', groupExamples);
  const runWithKeys: RunWithKeys = async (command, work) =>
    await runCommand(command, async (context) => {
      const { openKeys } = await import('../../runtime/gateway/keys.ts');
      const keys = await openKeys(context.options.config, context.options.overlays);
      try {
        return await work(keys, context);
      } finally {
        await keys.close();
      }
    });
  addCreate(group, runWithKeys);
  addList(group, runWithKeys);
  addShow(group, runWithKeys);
  addRevoke(group, runWithKeys);
  addRotate(group, runWithKeys);
}

type RunWithKeys = (
  command: Command,
  work: (keys: KeyManager, context: CommandContext) => Promise<ExitCode>,
) => Promise<void>;

function addCreate(group: Command, runWithKeys: RunWithKeys): void {
  group
    .command('create <name>')
    .description('make a key; it is printed once and kept nowhere')
    .option('--models <names>', 'the only models that it may call, with commas between them')
    .option('--hooks <set>', 'the set of spec.gateway.hooks that its calls pass (default: all hooks)')
    .option('--expires <when>', 'a date, or a duration such as 90d')
    .option('--requests-per-minute <n>', 'at most so many in any 60 seconds')
    .option('--tokens-per-minute <n>', 'at most so many in any 60 seconds')
    .option('--concurrent <n>', 'at most so many calls at once')
    .option('--budget-day <usd>', 'US dollars a day, in UTC')
    .option('--budget-month <usd>', 'US dollars a month, in UTC')
    .option('--budget-total <usd>', 'US dollars in all')
    .addHelpText('after', createExamples)
    .action(async (name: string, flags: KeyFlags, command: Command) => {
      await runWithKeys(command, async (keys, { options, terminal }) => {
        const created = await keys.create(await readNewKey(name, flags, Date.now()));
        if (options.json) terminal.printJson(created);
        else {
          terminal.print(created.key);
          terminal.printStderr(`${created.id} "${name}": this is the only time that the key is shown`);
        }
        return 0;
      });
    });
}

function addList(group: Command, runWithKeys: RunWithKeys): void {
  group
    .command('list')
    .description('show the keys that are in use')
    .option('--all', 'revoked and expired ones too')
    .addHelpText('after', listExamples)
    .action(async ({ all }: { all?: true }, command: Command) => {
      await runWithKeys(command, async (keys, { options, terminal }) => {
        const shown = (await keys.list()).filter(({ status }) => all || status === 'active');
        if (options.json) terminal.printJson({ keys: shown });
        else if (shown.length === 0) terminal.printStderr('there are no keys');
        else
          terminal.printTable(['key', 'name', 'status', 'models', 'hooks', 'expires'], shown.map(rowOfKey));
        return 0;
      });
    });
}

function addShow(group: Command, runWithKeys: RunWithKeys): void {
  group
    .command('show <key>')
    .description('show what a key may do, and what it has used')
    .addHelpText('after', showExamples)
    .action(async (which: string, _own: unknown, command: Command) => {
      await runWithKeys(command, async (keys, { options, terminal }) => {
        const details = await keys.show(which);
        if (options.json) terminal.printJson(details);
        else terminal.print(detailsText(details));
        return 0;
      });
    });
}

function addRevoke(group: Command, runWithKeys: RunWithKeys): void {
  group
    .command('revoke <key>')
    .description('end a key; running servers refuse its next call')
    .addHelpText('after', revokeExamples)
    .action(async (which: string, _own: unknown, command: Command) => {
      await runWithKeys(command, async (keys, { options, terminal }) => {
        const revoked = await keys.revoke(which);
        if (options.json) terminal.printJson(revoked);
        else terminal.printStderr(`${revoked.id} "${revoked.name}" is revoked since ${revoked.revoked_at}`);
        return 0;
      });
    });
}

function addRotate(group: Command, runWithKeys: RunWithKeys): void {
  group
    .command('rotate <key>')
    .description('make a new text for a key; the last one ends later, earlier ones at once')
    .option('--grace <duration>', 'for how long the last text is still good', '24h')
    .addHelpText('after', rotateExamples)
    .action(async (which: string, { grace }: { grace: string }, command: Command) => {
      await runWithKeys(command, async (keys, { options, terminal }) => {
        const rotated = await keys.rotate(which, await readAge('--grace', grace));
        if (options.json) terminal.printJson(rotated);
        else {
          terminal.print(rotated.key);
          terminal.printStderr(`${rotated.id} "${rotated.name}": the text before ends in ${grace}`);
        }
        return 0;
      });
    });
}

const groupExamples = `
Examples:
  signalbox keys create team-a --models small --budget-month 50
  signalbox keys list
  signalbox keys revoke team-a

A key is named by its name or its id. Keys stand in keys.db beside the state store of --config,
or in its database.`;

const createExamples = `
Examples:
  signalbox keys create team-a
  signalbox keys create ci --models small,large --hooks strict --expires 90d
  signalbox keys create demo --requests-per-minute 60 --concurrent 4 --budget-day 2.50
  signalbox keys create ci --json | jq -r .key | vault kv put secret/ci key=-`;

const listExamples = `
Examples:
  signalbox keys list
  signalbox keys list --all --json | jq '.keys[] | {name, status}'`;

const showExamples = `
Examples:
  signalbox keys show team-a
  signalbox keys show team-a --json | jq '.usage[] | {period, cost}'`;

const revokeExamples = `
Examples:
  signalbox keys revoke team-a
  signalbox keys revoke key_3f2a51c09b1e`;

const rotateExamples = `
Examples:
  signalbox keys rotate team-a
  signalbox keys rotate team-a --grace 0s`;

/** The options of `keys create`. */
interface KeyFlags {
  readonly models?: string;
  readonly hooks?: string;
  readonly expires?: string;
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly concurrent?: string;
  readonly budgetDay?: string;
  readonly budgetMonth?: string;
  readonly budgetTotal?: string;
}

/** The key that the options ask for at that time (ms since 1970). Throws USAGE. */
async function readNewKey(name: string, flags: KeyFlags, at: number): Promise<NewKey> {
  return {
    ...{ name, hooks: flags.hooks },
    models: flags.models
      ?.split(',')
      .map((model) => model.trim())
      .filter((model) => model !== ''),
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

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw new RuntimeError('USAGE', `${option} takes a number, not "${text}"`);
}

async function readExpiry(text: string, at: number): Promise<number> {
  const { parseDuration } = await import('../../runtime/gateway/keys.ts');
  const ms = parseDuration(text);
  if (ms !== undefined) return at + ms;
  const date = dateForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw new RuntimeError('USAGE', `--expires takes a date or a duration, not "${text}"`, {
    hint: 'Write it like 2027-01-31, 2027-01-31T12:00:00Z, 12h or 90d.',
  });
}

/** A date is midnight in UTC; a time needs its zone, lest it mean another moment on another machine. */
const dateForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;
