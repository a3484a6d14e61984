export { findCheck } from './registry.ts';
export { requireParams, runCheck } from './run-check.ts';
export { suggestEval } from './suggest-eval.ts';
