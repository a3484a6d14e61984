import { checksumNames, ownName } from '../../builtins/pii/own-pattern.ts';
import { scanPlaces } from '../../builtins/pii/settings.ts';
import { milliseconds } from '../../dialects/dialect-config.ts';
import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import { agentsSchema, approvalSchema, approvalsSchema } from './approval.ts';
import { defaultProperties, evalSchema, execProperties, toolDialect, toolExecSchema } from './exec.ts';
import { gatewaySchema } from './gateway.ts';
import { hookSchema } from './hook.ts';
import { providerSchema } from './provider.ts';
import { sandboxSchema } from './sandbox.ts';
import { stateStoreSchema } from './store.ts';

/** Kinds of work that a tool may do. */
const toolCategories = [
  'memory',
  'fs_read',
  'fs_write',
  'shell',
  'network',
  'index',
  'flow',
  'vfs',
  'plugin',
  'mcp',
  'synthesised',
  'eval',
] as const;

/** The text, and what the dialects have to say of the key. */
function describe(key: string, text: string): string {
  const remarks = foreignNames.flatMap((name) => foreignDialects[name].entry.toolRemarks?.[key] ?? []);
  return [text, ...remarks].join(' ');
}

const toolSchema = {
  type: ['object', 'null'],
  description: 'A tool. Without `exec` it is listed, and a call of it fails.',
  additionalProperties: false,
  properties: {
    description: { type: 'string', description: 'What the tool does; the model reads it.' },
    input_schema: {
      type: ['object', 'boolean'],
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) of the arguments, checked before the process starts.',
    },
    output_schema: {
      type: ['object', 'boolean'],
      description: 'JSON Schema of the result, checked before anybody sees it.',
    },
    timeout_ms: { ...milliseconds, description: 'The timeout of `exec` where that has none of its own.' },
    exec: toolExecSchema,
    dialect: { ...toolDialect, description: 'The same as `exec.dialect`.' },
    approval: approvalSchema,
    idempotent: {
      type: 'boolean',
      description:
        'Whether a call that was cut off may be made again. true: yes, and the tool is given an idempotency_key. false: only if a person says so. Default: yes.',
    },
    category: {
      type: 'string',
      enum: toolCategories,
      description: describe('category', 'What kind of work the tool does.'),
    },
    aliases: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: describe('aliases', 'Names that other systems have for the tool, as in [Bash].'),
    },
    mode: {
      type: 'string',
      description: 'PromptKit’s word for how the tool runs; with `exec` it must be exec.',
    },
    name: { type: 'string', description: 'PromptKit’s own name of the tool; the key is what counts.' },
    mock_result: { description: 'PromptKit’s fixed answer. Not used.' },
    mock_template: { description: 'PromptKit’s template for an answer. Not used.' },
    mock_parts: { description: 'PromptKit’s fixed multimodal answer. Not used.' },
    http: { description: 'PromptKit’s HTTP binding. Not used.' },
    client: { description: 'PromptKit’s client-side binding. Not used.' },
  },
} as const;

const isOf = (dialect: string) => ({ properties: { dialect: { const: dialect } }, required: ['dialect'] });

/** The rules for a dialect whose imports are folders of plugins, and for keys that only one dialect has. */
const dialectRules = foreignNames.flatMap((name): object[] => {
  const { entry, plugins } = foreignDialects[name];
  const forbidden = Object.fromEntries(Object.keys(entry.importProperties ?? {}).map((key) => [key, false]));
  if (plugins !== undefined) {
    const then = { required: [plugins.folderKey], properties: { file: false } };
    return [{ if: isOf(name), then, else: { properties: forbidden } }];
  }
  return entry.importProperties === undefined ? [] : [{ if: isOf(name), else: { properties: forbidden } }];
});

const folderDialects = foreignNames.filter((name) => foreignDialects[name].plugins !== undefined);

/** One item of `spec.imports`. */
const importSchema = {
  type: 'object',
  description: 'A file of hooks, a plugin’s folder, or a folder of plugins that describe themselves.',
  additionalProperties: false,
  properties: {
    dialect: {
      type: 'string',
      enum: foreignNames,
      description:
        'Whose hooks they are. Without it, each rule of a file goes to the system whose form it has.',
    },
    file: {
      type: 'string',
      minLength: 1,
      description:
        'A settings file, a hooks.json, a plugin’s folder or a config.json, relative to this file’s folder.',
    },
    env: { ...execProperties.env, description: 'The `env` of every hook that is imported.' },
    sandbox: {
      ...execProperties.sandbox,
      description: 'The `sandbox` of every hook and tool that is imported.',
    },
    on_failure: {
      ...execProperties.on_failure,
      description: 'The `on_failure` of every hook that is imported.',
    },
    ...Object.fromEntries(
      foreignNames.flatMap((name) => Object.entries(foreignDialects[name].entry.importProperties ?? {})),
    ),
  },
  allOf: [
    {
      if: { properties: { dialect: { enum: folderDialects } }, required: ['dialect'] },
      else: { required: ['file'] },
    },
    ...dialectRules,
  ],
} as const;

/** Settings of every signalbox-pii that the file starts. */
const piiSchema = {
  type: ['object', 'null'],
  description: 'Settings of every `signalbox-pii` that this file starts; docs/pii.md tells of both.',
  additionalProperties: false,
  properties: {
    patterns: {
      type: ['array', 'null'],
      description: 'Kinds of personal data of your own, looked for beside those of `--entities`.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'pattern'],
        properties: {
          name: {
            type: 'string',
            pattern: ownName.source,
            description:
              'What stands in place of a value, in brackets; actions name it too. Capitals, digits and `_`.',
          },
          pattern: {
            type: 'string',
            minLength: 1,
            description:
              'A regular expression, of JavaScript without lookaround and back references, or of RE2 (`(?i)` for any case).',
          },
          context: {
            anyOf: [
              { type: 'string', minLength: 1 },
              { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
            ],
            description:
              'Words of which one must stand near a value, in the same line and in any case. Default: it needs none.',
          },
          checksum: {
            type: 'string',
            enum: checksumNames,
            description: 'Check digits that a value must have. Default: none.',
          },
        },
      },
    },
    scan: {
      type: ['array', 'null'],
      items: { type: 'string', enum: scanPlaces },
      description:
        'What is looked at: texts by who says them (tool: results), arguments of tools, definitions of tools, and the rest of a request’s body. Default: everything.',
    },
  },
} as const;

const {
  runtime: _runtime,
  instances: _instances,
  warm: _warm,
  dialect: _dialect,
  ...oneShot
} = execProperties;

/** Whom runs tell of what happens to them. */
const notifySchema = {
  type: ['array', 'null'],
  description:
    'Who is told that a call waits or is decided, or that a run has ended, after it is kept; docs/notify.md has the document.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['on'],
    properties: {
      ...oneShot,
      command: {
        ...execProperties.command,
        description: `${execProperties.command.description} The document is on its stdin; exit code 0 says that it was taken.`,
      },
      timeout_ms: {
        ...execProperties.timeout_ms,
        description: 'Milliseconds until an attempt is given up. Default: 10000.',
      },
      url: {
        type: 'string',
        pattern: '^https?://',
        description:
          'Where the document is posted; any status from 200 to 299 says that it was taken. https, or http to this machine; redirects are not followed.',
      },
      headers: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Headers of the request to `url`, such as Authorization: Bearer ${env:TOKEN}.',
      },
      on: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { type: 'string', enum: ['pending', 'decided', 'suspended', 'failed', 'completed'] },
        description:
          'pending: a call waits for a person. decided: it was decided, has expired or was cancelled. suspended: a fault that may be gone later set a run down. completed: a run did its work. failed: it failed, was denied or was cancelled.',
      },
    },
  },
} as const;

export const nativeVersion = 'signalbox/v1';
export const promptkitVersion = 'promptkit.altairalabs.ai/v1alpha1';

/** Sections of a PromptKit file that Signalbox accepts and ignores. */
export const unusedSections = [
  'embedding_providers',
  'tts_providers',
  'stt_providers',
  'inference_providers',
  'selectors',
  'skills',
  'tool_selector',
  'mcp_servers',
] as const;

const scalarMap = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean'] },
} as const;

const metadataSchema = {
  type: ['object', 'null'],
  description: 'Who this file is.',
  additionalProperties: false,
  properties: {
    name: { type: 'string', description: 'Name of the configuration, for logs.' },
    namespace: { type: 'string', description: 'A group of configurations. Only kept.' },
    labels: { ...scalarMap, description: 'Free words to sort configurations by. Only kept.' },
    annotations: { ...scalarMap, description: 'Free notes. Only kept.' },
  },
} as const;

const loggingSchema = {
  type: ['object', 'null'],
  description: 'What the log says and how.',
  additionalProperties: false,
  properties: {
    defaultLevel: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error'],
      description: 'Lines below this level are left out. Default: info.',
    },
    format: {
      type: 'string',
      enum: ['json', 'text'],
      description:
        'One JSON object per line, or text. Default: JSON for serve, work and worker in a pipe, otherwise text.',
    },
    commonFields: { ...scalarMap, description: 'Members added to every line.' },
    modules: { description: 'PromptKit’s levels per module. Not used.' },
  },
} as const;

const specSchema = {
  type: ['object', 'null'],
  description: 'What there is to run.',
  additionalProperties: false,
  properties: {
    providers: { type: ['array', 'null'], items: providerSchema, description: 'Models, by their id.' },
    tools: { type: ['object', 'null'], additionalProperties: toolSchema, description: 'Tools, by name.' },
    evals: {
      type: ['object', 'null'],
      additionalProperties: evalSchema,
      description: 'Evals, by type. One that is named like a built-in replaces it.',
    },
    hooks: {
      type: ['object', 'null'],
      additionalProperties: hookSchema,
      description: 'Hooks, by name. They run in the order of the file.',
    },
    imports: {
      type: ['array', 'null'],
      items: importSchema,
      description:
        'Files and folders of other systems whose hooks run here, after those of `hooks` and in this order. Nothing is discovered by itself.',
    },
    sandboxes: {
      type: ['object', 'null'],
      additionalProperties: sandboxSchema,
      description: 'Sandboxes, by name; docs/sandboxes.md tells what each keeps away.',
    },
    approvals: approvalsSchema,
    agents: agentsSchema,
    notify: notifySchema,
    state_store: stateStoreSchema,
    gateway: gatewaySchema,
    pii: piiSchema,
    logging: loggingSchema,
    env_file: {
      type: ['string', 'null'],
      description:
        'A file of NAME=value lines, relative to this file’s folder. Its variables count where the environment has none of the name.',
    },
    public_env: {
      type: ['array', 'null'],
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      description:
        'Variables named in ${env:NAME} whose values may be shown in logs and reports. Default: each is a secret.',
    },
    concurrency: {
      type: 'integer',
      minimum: 1,
      description: 'Exchanges that may run at once, over all entries. Default: the number of cores.',
    },
    in_flight_mb: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
      description:
        'MiB that the requests to processes and their outputs may have together; an exchange that finds no room waits. Default: 256.',
    },
    defaults: {
      type: ['object', 'null'],
      description: 'What an entry has where it says nothing itself.',
      additionalProperties: false,
      properties: defaultProperties,
    },
    ...Object.fromEntries(
      unusedSections.map((key) => [
        key,
        { description: `PromptKit’s ${key}. Not used, contents not checked.` },
      ]),
    ),
  },
};

/** Everything that a `signalbox/v1` RuntimeConfig may say, as a JSON Schema (2020-12). */
export const runtimeSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://signalbox.dev/schema/runtime.schema.json',
  title: 'Signalbox RuntimeConfig',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind'],
  properties: {
    $schema: { type: 'string', description: 'Where an editor finds this schema.' },
    apiVersion: {
      type: 'string',
      enum: [nativeVersion, promptkitVersion],
      description: `${nativeVersion}, or ${promptkitVersion} for a file that PromptKit reads too.`,
    },
    kind: { type: 'string', const: 'RuntimeConfig', description: 'Always RuntimeConfig.' },
    metadata: metadataSchema,
    spec: specSchema,
  },
};

/** Every schema that is published as a file, by file name. */
export const schemas: Readonly<Record<string, object>> = { 'runtime.schema.json': runtimeSchema };
