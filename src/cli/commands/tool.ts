import { randomUUID } from 'node:crypto';
import type { Fault } from '../../base/errors.ts';
import { isJson } from '../../base/json/parse.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { ToolDocument } from '../../contract/document.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { command, group } from '../command.ts';
import { exitCodeOfTool } from '../exit-code.ts';
import { readLabels, wanted } from '../input.ts';
import { type NextCommands, nextCommands } from '../next-command.ts';
import { exactText } from '../show/exact-text.ts';
import { choicesText, headline, memoryStoreText, resumeText } from '../show/pending.ts';
import { codeText, nameText, type Terminal } from '../terminal.ts';

const list = command('list', {
  about: 'show the declared tools',
  examples: `
Examples:
  signalbox tool list
  signalbox tool list --json | jq '.tools[] | {name, input_schema}'

Tools without an exec binding are listed with the runtime "none".`,
  run: async ({ open }) => {
    const runtime = await open();
    await runtime.upstreams.connect();
    const tools = runtime.tools.list();
    const rows = tools.map(({ name, runtime, description }) => [name, runtime, description]);
    return { document: { tools }, table: { names: ['tool', 'runtime', 'description'], rows } };
  },
});

const call = command('call <name>', {
  about: 'call a tool, with its hooks',
  options: {
    '--args <json>': ['the arguments: a JSON object, @FILE, or - for stdin', { default: '{}' }],
    '--approve': 'approve the call at once if the tool needs a person',
    '--id <id>':
      'your id for the call: repeated with the same arguments, it returns the same outcome for 24 hours',
    '--label <name=value>': ['store the call as a run with this label; may be repeated', { isMany: true }],
  },
  examples: `
Examples:
  signalbox tool call weather --args '{"city": "Oslo"}'
  signalbox tool call refund --args @request.json --json
  echo '{"order": "A-17"}' | signalbox tool call lookup --args -
  signalbox tool call export --id export-2026 --label shop=berlin

A call that waits for a person is stored: decide with \`signalbox pending\`, then \`signalbox runs resume\`
makes the call. With --approve you approve at once. If spec.state_store is memory, nothing is stored.

A call with --id or --label is a run from its start: \`signalbox runs\` shows, continues and cancels it. With other
arguments, the same --id fails with CALL_ID_TAKEN.

More: docs/guides/write-tools.md

Exit codes: 0 ok, 1 failed or denied, 2 wrong call or config, 3 waiting for a person.`,
  run: async ({ invocation, options, terminal, input, signal, open }, own, name) => {
    const args = await input.text('--args', own.args);
    const labels = readLabels(own.label);
    const runtime = await open();
    const by = invocation.userName();
    const reason = 'approved on the command line';
    const callOnce = async () =>
      await runtime.tools.call(name, args, {
        signal,
        wholeFaults: true,
        ...(own.approve && { approve: async ({ id }) => ({ id, decision: 'approved', by, reason }) }),
      });
    const identity = { principal: by, id: own.id ?? randomUUID() };
    const callAsRun = async (): Promise<ToolDocument> => {
      const document = await runtime.tools.start(name, args, { id: identity, labels, signal }).done;
      if (!own.approve || document.status !== 'pending') return document;
      const { status } = await runtime.pending.approve(document.pending.id, { by, reason });
      // An open call needs other people, too. Repeated, the call continues.
      return status === 'open' ? document : await callAsRun();
    };
    const document = await (own.id === undefined && labels === undefined ? callOnce() : callAsRun());
    if (options.json) terminal.printJson(document);
    else
      await printResult(
        document,
        { runtime, name, args, commands: nextCommands(invocation, runtime) },
        terminal,
      );
    if (document.status === 'pending' && !runtime.isDurable)
      terminal.printStderr(memoryStoreText('approve at once with --approve'));
    return exitCodeOfTool[document.status];
  },
});

const add = command('add <script> [args...]', {
  about: 'write the entry of a script into the config',
  options: {
    '--name <name>': 'the name of the tool (default: that of the file)',
    '--description <text>': 'what the tool does; a model reads it',
    '--input-schema <json>': 'the JSON Schema of its arguments: a JSON object, @FILE, or - for stdin',
    '--server': 'the script keeps running and answers lines (runtime: server)',
    '--env <name>': ['a variable that the script gets, or NAME=value; may be repeated', { isMany: true }],
    '--dry-run': 'show the entry, and write nothing',
  },
  examples: `
The config keeps its comments. Without a config, the command creates one. Hooks and evals need no more than a line:

  spec:
    hooks: {guard: {command: ./guard.py, hook: tool, phases: [before_execution]}}
    evals: {polite: {command: ./polite.py}}

Examples:
  signalbox tool add ./weather.py --description 'The weather in a city.'
  signalbox tool add ./refund.py --input-schema @refund.schema.json --env SHOP_TOKEN
  signalbox tool add --server --name search -- node search.js fast`,
  run: async ({ options, input }, flags, script, args) => {
    const { name, description, inputSchema, server, env, dryRun: isDry = false } = flags;
    const schema = inputSchema && { input_schema: await input.object('--input-schema', inputSchema) };
    const { loadImporter } = await import('../../runtime/runtime.ts');
    const { config } = options;
    const { addTool } = await loadImporter();
    const added = addTool(
      {
        ...{ command: script, args, name },
        tool: { ...(description && { description }), ...schema },
        exec: { ...(server && { runtime: 'server' }), ...(env && { env }) },
      },
      { config, isDry },
    );
    const next = `Check the script with \`signalbox conform ${added.name} --request '{"args": {…}}'\`.`;
    return {
      document: { config, name: added.name, yaml: added.yaml, written: !isDry },
      text: added.yaml.trimEnd(),
      note: isDry ? `not written to ${config}` : `${added.isNew ? 'wrote' : 'added to'} ${config}. ${next}`,
    };
  },
});

export const toolCommands = group('tool', {
  about: 'list, call and add tools',
  examples: `
Examples:
  signalbox tool list
  signalbox tool call weather --args '{"city": "Oslo"}'`,
  commands: [list, call, add],
});

async function printResult(
  document: ToolDocument,
  { runtime, name, args, commands }: { runtime: Runtime; name: string; args: string; commands: NextCommands },
  terminal: Terminal,
): Promise<void> {
  switch (document.status) {
    case 'ok':
      terminal.printValue(resultText(document));
      return;
    case 'failed':
      printFault(document.error, { name, args }, terminal);
      return;
    case 'denied': {
      const { hook, reason, error } = document;
      // Signalbox's own reasons name the hook already.
      const by = reason.startsWith(`hook "${hook}"`) ? '' : ` by hook "${hook}"`;
      terminal.printStderr(`denied${by}: ${codeText(error)}${escapeInvisible(reason)}`);
      terminal.printHint(error);
      return;
    }
    case 'pending': {
      const { id, run_id } = document.pending;
      terminal.printStderr(headline(document.pending));
      if (!runtime.isDurable) return;
      terminal.printStderr(choicesText(id, commands, (await runtime.pending.show(id)).choices));
      terminal.printStderr(resumeText(run_id, commands, { isLast: true }));
    }
  }
}

function printFault(
  { code, message, hint, details }: Fault,
  { name, args }: { readonly name: string; readonly args: string },
  terminal: Terminal,
): void {
  terminal.printStderr(`failed: [${code}] ${nameText('tool', name, message)}${escapeInvisible(message)}`);
  const next = code === 'ARGS_INVALID' && !isJson(args) ? wanted('--args', args) : hint;
  terminal.printHint({ code, hint: next, ...(details && { details }) });
}

function resultText(document: Extract<ToolDocument, { status: 'ok' }>): string {
  return typeof document.result === 'string' ? document.result : exactText(document, 'result');
}
