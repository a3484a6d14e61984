import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { nearFileHint } from '../../base/files/near-file.ts';
import { isObject } from '../../base/json/json.ts';
import { locateFindings } from '../../base/yaml/check.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import { findUnevaluatedExpressions } from '../../base/yaml/expressions.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import { findSchemaFault } from '../../config/build/refused.ts';
import type { Below } from './below/load-below.ts';
import { findWrongBelow } from './below/validate-below.ts';
import { pipelineSchema } from './schema.ts';
import { findWrongArgs } from './validate-args.ts';
import { findBadExpressions } from './validate-expressions.ts';
import { listFields } from './validate-fields.ts';
import { findWrongNames, type PipelineRuntime } from './validate-names.ts';
import { findBadReferences } from './validate-references.ts';
import { findWrongRetries } from './validate-retry.ts';
import { findWrongShapes } from './validate-shape.ts';
import { listSteps, type StepNode } from './validate-tree.ts';

/** What a pipeline is checked with. */
interface ValidatedPipeline {
  readonly steps: readonly StepNode[];
  /** What its steps name. */
  readonly below: Below;
  readonly runtime: PipelineRuntime | undefined;
}

/** What is wrong with a pipeline beyond its shape. */
export function validatePipeline(
  document: YamlDocument,
  { steps, below, runtime }: ValidatedPipeline,
): Problem[] {
  const findings = [
    ...findBadSchema(document, ['spec', 'input']),
    ...steps.flatMap(({ path }) => findBadSchema(document, [...path, 'ask', 'schema'])),
    ...findWrongShapes(document, steps),
    ...findWrongNames(document, steps, runtime),
    ...findWrongArgs(steps, runtime),
    ...findWrongRetries(document, steps, runtime),
    ...findBadExpressions(document, steps),
    ...findBadReferences(document, steps),
    ...findMissingRuntime(document),
    ...below.findings,
    ...findWrongBelow(document, steps, { below, runtime }),
  ];
  return locateFindings(document, findings, pipelineSchema);
}

/** Expressions where none is evaluated. Only validation reports them: such a pipeline can still run. */
export function findUnevaluatedInPipeline(document: YamlDocument): Problem[] {
  const steps = listSteps(document);
  const evaluated = listFields(document, steps).map(({ path }) => path);
  const schemas = steps.flatMap(({ path }) => [
    [...path, 'chat', 'output', 'schema'],
    [...path, 'ask', 'schema'],
  ]);
  const findings = findUnevaluatedExpressions(document, {
    evaluated,
    data: [['spec', 'input'], ...schemas],
    root: 'input',
  });
  return locateFindings(document, findings, pipelineSchema);
}

function findBadSchema(document: YamlDocument, path: Finding['path']): readonly Finding[] {
  const fault = isObject(valueAt(document, path)) ? findSchemaFault(document, path) : undefined;
  return fault === undefined ? [] : [{ path, message: `is no JSON Schema that can be used: ${fault}` }];
}

/** No error: the file may yet be made before the pipeline runs, and another runtime be given. */
function findMissingRuntime(document: YamlDocument): readonly Finding[] {
  const path = ['spec', 'runtime'];
  const runtime = nonEmptyTextAt(document, path);
  if (runtime === undefined) return [];
  const file = resolve(dirname(document.file), runtime);
  return existsSync(file)
    ? []
    : [
        {
          path,
          message: `${file} does not exist`,
          severity: 'warning',
          hint: nearFileHint(runtime, dirname(document.file)),
        },
      ];
}
