import { findParamProblems } from '../../checks/params.ts';
import { checkTypes } from '../../checks/registry.ts';
import { suggestEval } from '../../checks/suggest-eval.ts';
import type { ProviderConfig, ToolConfig } from '../../config/config.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Finding } from '../../yaml/finding.ts';
import { exactValueAt, itemsAt, valueAt } from '../../yaml/read.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { StepNode } from './validate-tree.ts';

/** What a RuntimeConfig declares that the steps of a pipeline may name. */
export interface PipelineRuntime {
  readonly tools: readonly Pick<ToolConfig, 'name' | 'exec' | 'inputSchema' | 'idempotent'>[];
  readonly evals: readonly { readonly name: string }[];
  readonly providers: readonly Pick<ProviderConfig, 'id' | 'refused' | 'role'>[];
}

/** Tools, evals and providers that the runtime does not declare, or that cannot be used. */
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
    ];
  });
}

/** An eval that nobody declares and that is not built in, or wrong params of one that is. */
function findWrongEval(document: YamlDocument, path: Path, { evals }: PipelineRuntime): readonly Finding[] {
  const declared = evals.map(({ name }) => name);
  const type = valueAt(document, [...path, 'eval']);
  if (typeof type !== 'string' || type === '' || declared.includes(type)) return [];
  if (!checkTypes().includes(type)) {
    const message = `no eval named ${type} is declared`;
    return [{ path: [...path, 'eval'], message, hint: suggestEval(type, declared) }];
  }
  return findParamProblems(type, exactValueAt(document, [...path, 'params'])).map(
    ({ path: inParams, ...problem }) => ({ path: [...path, 'params', ...inParams], ...problem }),
  );
}

function findWrongTool(document: YamlDocument, path: Path, { tools }: PipelineRuntime): readonly Finding[] {
  const known = tools.map(({ name }) => name);
  const unknown = findUnknown(document, path, { what: 'tool', known });
  const tool = tools.find(({ name }) => name === valueAt(document, path));
  if (tool === undefined || tool.exec !== undefined) return unknown;
  const message = `the tool ${tool.name} has no exec binding, so it cannot be called`;
  return [{ path, message, hint: 'Add `exec: {command: …}` to the tool.' }];
}

/** A provider at `path` that the runtime does not declare, or that cannot be used. */
export function findWrongProvider(
  document: YamlDocument,
  path: Path,
  { providers }: PipelineRuntime,
): readonly Finding[] {
  const known = providers.map(({ id }) => id);
  const provider = providers.find(({ id }) => id === valueAt(document, path));
  if (provider === undefined) return findUnknown(document, path, { what: 'provider', known });
  const why = provider.refused ?? (provider.role && `its role is ${provider.role}, so it cannot answer`);
  return why === undefined ? [] : [{ path, message: `the provider ${provider.id} cannot be used: ${why}` }];
}

function findUnknown(
  document: YamlDocument,
  path: Path,
  { what, known }: { readonly what: string; readonly known: readonly string[] },
): readonly Finding[] {
  const name = valueAt(document, path);
  if (typeof name !== 'string' || name === '' || known.includes(name)) return [];
  return [{ path, message: `no ${what} named ${name} is declared`, ...suggest(name, known, `${what}s`) }];
}
