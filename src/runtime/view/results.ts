// What `loadView()` gives. Loaded only when it is asked for.

export { addressOfRun } from '../../suite/report/html/runs-page.ts';
export { defaultPort, serveView } from './serve-view.ts';
export { idOfFile } from './shelf.ts';
