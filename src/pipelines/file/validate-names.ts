import { toRuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { exactValueAt, itemsAt, valueAt } from '../../base/yaml/read.ts';
import { findParamProblems } from '../../builtins/checks/params.ts';
import { checkTypes, findCheck } from '../../builtins/checks/registry.ts';
import { suggestEval } from '../../builtins/checks/suggest-eval.ts';
import type { ProviderConfig, ToolConfig } from '../../config/config.ts';
import { findServer } from '../../config/mcp-servers.ts';
import { askedProvider, whyToolNameRefused } from '../../config/provider-use.ts';
import type { ProviderRole } from '../../contract/provider.ts';
import type { StepNode } from './validate-scope.ts';

export interface PipelineRuntime {
  readonly tools: readonly Pick<ToolConfig, 'name' | 'exec' | 'inputSchema' | 'idempotent'>[];
  readonly mcpServers?: readonly { readonly name: string }[];
  readonly evals: readonly { readonly name: string }[];
  readonly providers: readonly Pick<
    ProviderConfig,
    'id' | 'type' | 'baseUrl' | 'fallback' | 'refused' | 'role'
  >[];
}

export function findWrongNames(
  document: YamlDocument,
  steps: readonly StepNode[],
  runtime: PipelineRuntime | undefined,
): readonly Finding[] {
  if (runtime === undefined) return [];
  return steps.flatMap(({ path }) => {
    const chat = [...path, 'chat'];
    const guardrails = itemsAt(document, [...chat, 'guardrails']);
    const evalOwners = [path, ...guardrails];
    const tools = [[...path, 'tool'], ...itemsAt(document, [...chat, 'tools'])];
    return [
      ...tools.flatMap((place) => findWrongTool(document, place, runtime)),
      ...evalOwners.flatMap((place) => findWrongEval(document, place, runtime)),
      ...findWrongProvider(document, [...chat, 'provider'], runtime),
      ...findRefusedToolNames(document, chat, runtime),
    ];
  });
}

function findWrongEval(document: YamlDocument, path: Path, runtime: PipelineRuntime): readonly Finding[] {
  const { evals } = runtime;
  const declared = evals.map(({ name }) => name);
  const type = valueAt(document, [...path, 'eval']);
  if (typeof type !== 'string' || type === '' || declared.includes(type)) return [];
  if (!checkTypes().includes(type)) {
    const message = `no eval named ${type} is declared`;
    return [{ path: [...path, 'eval'], message, hint: suggestEval(type, declared) }];
  }
  const inParams = findParamProblems(type, exactValueAt(document, [...path, 'params'])).map(
    ({ path: place, ...problem }) => ({ path: [...path, 'params', ...place], ...problem }),
  );
  return [...inParams, ...findUnaskable(document, [...path, 'eval'], runtime)];
}

/** Reports a provider that is undeclared, unusable or of another role, and a missing one. */
export function findUnaskable(
  document: YamlDocument,
  typePath: Path,
  runtime: Pick<PipelineRuntime, 'providers'>,
): readonly Finding[] {
  const type = valueAt(document, typePath);
  const check = typeof type === 'string' ? findCheck(type) : undefined;
  const params = [...typePath.slice(0, -1), 'params'];
  // An expression may return any params.
  if (typeof valueAt(document, params) === 'string') return [];
  return Object.entries(check?.params ?? {}).flatMap(
    ([name, { aliases = [], asks: role }]): readonly Finding[] => {
      if (role === undefined) return [];
      const places = [name, ...aliases].map((key) => [...params, key]);
      const place = places.find((each) => valueAt(document, each) !== undefined);
      if (place === undefined) return findNobodyToAsk(typePath, role, runtime);
      const id = valueAt(document, place);
      return typeof id === 'string' && id.includes('${')
        ? []
        : findWrongProvider(document, place, runtime, role);
    },
  );
}

function findNobodyToAsk(
  path: Path,
  role: ProviderRole,
  { providers }: Pick<PipelineRuntime, 'providers'>,
): readonly Finding[] {
  try {
    const id = askedProvider(role, providers);
    const why = providers.find((each) => each.id === id)?.refused;
    return why === undefined ? [] : [{ path, message: `the provider ${id} cannot be used: ${why}` }];
  } catch (thrown) {
    const { message, hint } = toRuntimeError(thrown);
    return [{ path, message, hint }];
  }
}

function findRefusedToolNames(
  document: YamlDocument,
  path: Path,
  { providers, tools, mcpServers }: PipelineRuntime,
): readonly Finding[] {
  const given = valueAt(document, [...path, 'provider']);
  const ids = (Array.isArray(given) ? given : [given]).filter((id) => typeof id === 'string');
  return itemsAt(document, [...path, 'tools']).flatMap((place): readonly Finding[] => {
    const tool = valueAt(document, place);
    if (!tools.some(({ name }) => name === tool) && !isOfServer(tool, mcpServers)) return [];
    const problem = ids.map((id) => whyToolNameRefused(String(tool), id, providers)).find((each) => each);
    return problem === undefined ? [] : [{ path: place, ...problem }];
  });
}

function isOfServer(tool: unknown, servers: PipelineRuntime['mcpServers'] = []): boolean {
  return findServer(String(tool), new Map(servers.map((server) => [server.name, server]))) !== undefined;
}

function findWrongTool(
  document: YamlDocument,
  path: Path,
  { tools, mcpServers }: PipelineRuntime,
): readonly Finding[] {
  // What a server offers is known after connecting.
  if (isOfServer(valueAt(document, path), mcpServers)) return [];
  const known = tools.map(({ name }) => name);
  const unknown = findUnknown(document, path, { what: 'tool', known });
  const tool = tools.find(({ name }) => name === valueAt(document, path));
  if (tool === undefined || tool.exec !== undefined) return unknown;
  const message = `the tool ${tool.name} has no exec binding, so it cannot be called`;
  return [{ path, message, hint: 'Add `exec: {command: …}` to the tool.' }];
}

export function findWrongProvider(
  document: YamlDocument,
  path: Path,
  { providers }: Pick<PipelineRuntime, 'providers'>,
  wanted: ProviderRole = 'llm',
): readonly Finding[] {
  const known = providers.map(({ id }) => id);
  const provider = providers.find(({ id }) => id === valueAt(document, path));
  if (provider === undefined) return findUnknown(document, path, { what: 'provider', known });
  const role = provider.role ?? 'llm';
  const why = provider.refused ?? (role === wanted ? undefined : whyOtherRole[wanted]);
  return why === undefined ? [] : [{ path, message: `the provider ${provider.id} cannot be used: ${why}` }];
}

const whyOtherRole: Readonly<Record<ProviderRole, string>> = {
  llm: 'its role is embedding, so it cannot answer',
  embedding: 'its role is not embedding',
};

function findUnknown(
  document: YamlDocument,
  path: Path,
  { what, known }: { readonly what: string; readonly known: readonly string[] },
): readonly Finding[] {
  const name = valueAt(document, path);
  if (typeof name !== 'string' || name === '' || known.includes(name)) return [];
  return [{ path, message: `no ${what} named ${name} is declared`, ...suggest(name, known, `${what}s`) }];
}
