export { compileExemption as compileAllowed } from '../safe-pattern.ts';
