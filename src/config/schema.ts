import type { YamlDocument } from '../base/yaml/document.ts';
import { as, read, usual, usually } from '../base/yaml/fields.ts';
import { type Finding, locateFinding as locate } from '../base/yaml/finding.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { textsByNameAt } from '../base/yaml/read.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import { agentsSchema, approvalsSchema } from './approval.ts';
import { duration } from './duration.ts';
import { defaultProperties, evalSchema, execProperties } from './exec.ts';
import { gatewaySchema } from './gateway.ts';
import { hookSchema } from './hook.ts';
import { consoleSchema, mcpSchema } from './mcp.ts';
import { mcpServersSchema } from './mcp-servers.ts';
import { notifySchema } from './notify.ts';
import { piiSchema } from './pii.ts';
import { providerSchema } from './provider.ts';
import { sandboxSchema } from './sandbox.ts';
import { stateStoreSchema } from './store.ts';
import { telemetrySchema } from './telemetry.ts';
import { toolSchema } from './tool.ts';

const isOf = (dialect: string) => ({ properties: { dialect: { const: dialect } }, required: ['dialect'] });

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

const importSchema = {
  type: 'object',
  description: 'A file of hooks, a plugin’s folder, or a folder of plugins that describe themselves.',
  additionalProperties: false,
  properties: {
    dialect: {
      type: 'string',
      enum: foreignNames,
      description:
        'The system to which the hooks belong. Without it, each rule of a file goes to the system whose form it has.',
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
] as const;

const scalarMap = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  [read]: textsByNameAt,
  [usual]: {},
} as const;

const metadataSchema = {
  type: ['object', 'null'],
  description: 'Name and labels of this file.',
  additionalProperties: false,
  properties: {
    name: { type: 'string', description: 'Name of the configuration, for logs.' },
    namespace: { type: 'string', description: 'A group of configurations. Kept, but not used.' },
    labels: { ...scalarMap, description: 'Labels to sort configurations by. Kept, but not used.' },
    annotations: { ...scalarMap, description: 'Notes. Kept, but not used.' },
  },
} as const;

const loggingSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'Level and format of the log.',
  additionalProperties: false,
  properties: {
    defaultLevel: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error'],
      [as]: 'level',
      [usual]: 'info',
      description: 'Lines below this level are left out. Default: info.',
    },
    format: {
      type: 'string',
      enum: ['json', 'text'],
      description:
        'One JSON object per line, or text. Default: JSON for serve, work and worker in a pipe, otherwise text.',
    },
    commonFields: { ...scalarMap, [as]: 'fields', description: 'Members added to every line.' },
    modules: { description: 'PromptKit’s levels per module. Not used.' },
  },
} as const;

const decisionsSchema = {
  type: ['object', 'null'],
  description:
    'Records what each hook decided, in decisions.db beside the state store or in its database. Without this section, nothing is recorded.',
  additionalProperties: false,
  properties: {
    keep: usually(
      30 * 86_400_000,
      {
        ...duration,
        [as]: 'keepMs',
        description:
          'How long decisions and messages are kept. Those of a run with an open call stay until it is decided.',
      },
      '30d',
    ),
    content: usually(false, {
      type: 'boolean',
      description: 'Record the messages of model calls too, as the hooks left them.',
    }),
  },
} as const;

const privateHostsSchema = {
  type: ['array', 'null'],
  [usual]: [],
  items: { type: 'string', minLength: 1 },
  description:
    'Hosts in private networks or on this machine to which URLs may lead: names, in which `*` stands for any characters; addresses; and networks, such as 10.0.0.0/8. A URL of this file whose host is an address or `localhost` needs no entry.',
} as const;

const limitKeys = {
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
      'MiB that the requests to processes and their outputs may use together; an exchange that does not fit waits. Default: 256.',
  },
  defaults: {
    type: ['object', 'null'],
    [usual]: {},
    description: 'Values for entries that set none of their own.',
    additionalProperties: false,
    properties: defaultProperties,
  },
} as const;

/** Keys of `spec` that become members of a config unchanged. */
export const settingKeys = {
  agents: agentsSchema,
  decisions: decisionsSchema,
  mcp: mcpSchema,
  console: consoleSchema,
  telemetry: telemetrySchema,
  private_hosts: privateHostsSchema,
  logging: loggingSchema,
  ...limitKeys,
} as const;

const specSchema = {
  type: ['object', 'null'],
  description: 'Providers, tools, hooks and everything else that the file declares.',
  additionalProperties: false,
  properties: {
    providers: { type: ['array', 'null'], items: providerSchema, description: 'Models, by their id.' },
    tools: { type: ['object', 'null'], additionalProperties: toolSchema, description: 'Tools, by name.' },
    evals: {
      type: ['object', 'null'],
      additionalProperties: evalSchema,
      description: 'Evals, by type. One with the name of a built-in check replaces it.',
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
        'Files and folders of other systems whose hooks run here, after those of `hooks` and in this order. Nothing is discovered automatically.',
    },
    sandboxes: {
      type: ['object', 'null'],
      additionalProperties: sandboxSchema,
      description: 'Sandboxes, by name; docs/guides/sandbox-programs.md explains what each one blocks.',
    },
    approvals: approvalsSchema,
    agents: agentsSchema,
    notify: notifySchema,
    state_store: stateStoreSchema,
    decisions: decisionsSchema,
    gateway: gatewaySchema,
    mcp: mcpSchema,
    console: consoleSchema,
    telemetry: telemetrySchema,
    mcp_servers: mcpServersSchema,
    private_hosts: privateHostsSchema,
    pii: piiSchema,
    logging: loggingSchema,
    env_file: {
      type: ['string', 'null'],
      description:
        'A file of NAME=value lines, relative to this file’s folder. A variable applies only if the environment has none of the same name.',
    },
    public_env: {
      type: ['array', 'null'],
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      description:
        'Variables named in ${env:NAME} whose values may be shown in logs and reports. Default: each is a secret.',
    },
    ...limitKeys,
    ...Object.fromEntries(
      unusedSections.map((key) => [
        key,
        { description: `PromptKit’s ${key}. Not used, contents not checked.` },
      ]),
    ),
  },
};

/** The JSON Schema (2020-12) of a `signalbox/v1` RuntimeConfig. */
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

export const schemas: Readonly<Record<string, object>> = { 'runtime.schema.json': runtimeSchema };

export function locateFinding(document: YamlDocument, finding: Finding): Problem {
  return locate(document, finding, runtimeSchema);
}
