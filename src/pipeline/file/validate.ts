import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findSchemaFault } from '../../config/build/refused.ts';
import { isObject } from '../../json/json.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { nonEmptyTextAt, valueAt } from '../../yaml/read.ts';
import { findWrongArgs } from './validate-args.ts';
import { findBadExpressions } from './validate-expressions.ts';
import { type Finding, locateFinding } from './validate-finding.ts';
import { findWrongNames, type PipelineRuntime } from './validate-names.ts';
import { findBadReferences } from './validate-references.ts';
import { findWrongShapes } from './validate-shape.ts';
import { listSteps } from './validate-tree.ts';

/** What is wrong with a pipeline beyond its shape. */
export function validatePipeline(document: YamlDocument, runtime: PipelineRuntime | undefined): Problem[] {
  const steps = listSteps(document);
  const findings = [
    ...findBadInput(document),
    ...findWrongShapes(document, steps),
    ...findWrongNames(document, steps, runtime),
    ...findWrongArgs(steps, runtime),
    ...findBadExpressions(document, steps),
    ...findBadReferences(document, steps),
    ...findMissingRuntime(document),
  ];
  return findings.map((finding) => locateFinding(document, finding));
}

function findBadInput(document: YamlDocument): readonly Finding[] {
  const path = ['spec', 'input'];
  const fault = isObject(valueAt(document, path)) ? findSchemaFault(document, path) : undefined;
  return fault === undefined ? [] : [{ path, message: `is no JSON Schema that can be used: ${fault}` }];
}

/** No error: the file may yet be made before the pipeline runs, and another runtime be given. */
function findMissingRuntime(document: YamlDocument): readonly Finding[] {
  const path = ['spec', 'runtime'];
  const runtime = nonEmptyTextAt(document, path);
  if (runtime === undefined) return [];
  const file = resolve(dirname(document.file), runtime);
  return existsSync(file) ? [] : [{ path, message: `${file} does not exist`, severity: 'warning' }];
}
