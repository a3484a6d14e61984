#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
enableCompileCache();
const { runProgram } = await import('./program.ts');
await runProgram();
