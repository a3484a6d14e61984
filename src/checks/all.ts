export { findCheck } from './registry.ts';
export { requireParams, runCheck } from './run.ts';
export { suggestEval } from './suggest-eval.ts';
