// Replaces a shell, so that the example changes nothing: it prints the command without running it.
const { args } = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify({ result: `ran: ${args.command}` }));
