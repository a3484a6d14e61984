import { catalogue } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { retriedCodes } from './retry.ts';
import type { PipelineRuntime } from './validate-names.ts';
import type { StepNode } from './validate-tree.ts';

/** A `retry` that cannot be kept: on a step without work of its own, after what no attempt changes, or of what may act twice. */
export function findWrongRetries(
  document: YamlDocument,
  steps: readonly StepNode[],
  runtime: PipelineRuntime | undefined,
): readonly Finding[] {
  return steps.flatMap((step) => {
    if (!('retry' in step.value) || step.kind === undefined) return [];
    const path = [...step.path, 'retry'];
    if (!retriedKinds.has(step.kind)) {
      const message = `belongs to a step with tool, eval, chat or pipeline, and this one has \`${step.kind}\``;
      return [{ path, message, hint: 'Put it on the steps inside.', atKey: true }];
    }
    return [
      ...itemsAt(document, [...path, 'on']).flatMap((item) => findWrongCode(document, item)),
      ...findUnsafe(step, runtime),
    ];
  });
}

const retriedKinds: ReadonlySet<string> = new Set(['tool', 'eval', 'chat', 'pipeline']);

function findWrongCode(document: YamlDocument, path: Finding['path']): readonly Finding[] {
  const code = valueAt(document, path);
  if (typeof code !== 'string' || retriedCodes.some((known) => known === code)) return [];
  if (!Object.hasOwn(catalogue, code))
    return [{ path, message: `there is no code ${code}`, ...suggest(code, retriedCodes, 'codes') }];
  const message = `${code} is never tried again: another attempt would come to the same, or nobody may ask twice`;
  return [{ path, message, hint: `These are: ${retriedCodes.join(', ')}.` }];
}

/** A call that must not be made twice is not made twice. */
function findUnsafe({ value, path }: StepNode, runtime: PipelineRuntime | undefined): readonly Finding[] {
  const tool = runtime?.tools.find(({ name }) => name === value['tool']);
  if (tool?.idempotent !== false) return [];
  const message = `the tool ${tool.name} is \`idempotent: false\`: it is not called again without a person`;
  const hint = 'Make the tool keep to its `idempotency_key` and say `idempotent: true`.';
  return [{ path: [...path, 'retry'], message, hint, atKey: true }];
}
