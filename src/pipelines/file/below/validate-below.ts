import { isObject } from '../../../base/json/json.ts';
import type { YamlDocument } from '../../../base/yaml/document.ts';
import type { Finding } from '../../../base/yaml/finding.ts';
import { nonEmptyTextAt, valueAt } from '../../../base/yaml/read.ts';
import { findMisfits } from '../validate-args.ts';
import type { PipelineRuntime } from '../validate-names.ts';
import type { StepNode } from '../validate-tree.ts';
import { fileBelow } from './file-below.ts';
import type { Below } from './load-below.ts';
import { toolsBelow } from './tools-below.ts';

/** Inputs that can never fit, and attempts that might do twice what must not be. */
export function findWrongBelow(
  document: YamlDocument,
  steps: readonly StepNode[],
  { below, runtime }: { readonly below: Below; readonly runtime: PipelineRuntime | undefined },
): readonly Finding[] {
  return steps.flatMap((step) => {
    const named = nonEmptyTextAt(document, [...step.path, 'pipeline']);
    const found = named === undefined ? undefined : below.pipelines.get(fileBelow(document, named));
    if (found === undefined) return [];
    const unsafe = (runtime?.tools ?? []).find(
      ({ name, idempotent }) =>
        idempotent === false && found.pipeline !== undefined && toolsBelow(found.pipeline).has(name),
    );
    return [
      ...findWrongInput(step, valueAt(found.document, ['spec', 'input'])),
      ...(unsafe !== undefined && 'retry' in step.value ? [unsafeRetry(step, unsafe.name)] : []),
    ];
  });
}

function findWrongInput({ value, path }: StepNode, schema: unknown): readonly Finding[] {
  const input = value['input'] ?? {};
  if (!isObject(input) || !(isObject(schema) || typeof schema === 'boolean')) return [];
  return findMisfits(input, schema, {
    path: [...path, 'input'],
    owner: 'the pipeline’s input',
    isEach: true,
  });
}

function unsafeRetry({ path }: StepNode, tool: string): Finding {
  const message = `the pipeline calls the tool ${tool}, which is \`idempotent: false\`: it is not called again without a person`;
  const hint = 'Make the tool keep to its `idempotency_key` and say `idempotent: true`.';
  return { path: [...path, 'retry'], message, hint, atKey: true };
}
