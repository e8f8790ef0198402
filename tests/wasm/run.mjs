// node run.mjs LAW.wasm VECTORS.jsonl: every step through the module, every member of every decision compared.
import { readFileSync } from 'node:fs';

const ALGORITHMS = ['token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log'];
const [, , modulePath, vectorsPath] = process.argv;
const module = new WebAssembly.Module(readFileSync(modulePath));
if (WebAssembly.Module.imports(module).length > 0) {
  console.log('the module needs imports:', WebAssembly.Module.imports(module));
  process.exit(1);
}
const law = new WebAssembly.Instance(module).exports;
const members = {
  allowed: () => law.allowed() === 1,
  remaining: () => law.remaining() >>> 0,
  retry_after_us: () => Number(law.retry_after_us()),
  more_after_us: () => Number(law.more_after_us()),
  reset_after_us: () => Number(law.reset_after_us()),
  delay_us: () => Number(law.delay_us()),
};
const burstOf = (rule, algorithm) => (algorithm.endsWith('bucket') ? BigInt(rule.burst) : 0n);
const capacityOf = (rule, algorithm) =>
  rule.limit === 0 ? 0 : algorithm.endsWith('bucket') ? rule.burst || rule.limit : rule.limit;

let passed = 0;
let failed = 0;
readFileSync(vectorsPath, 'utf8').trimEnd().split('\n').forEach((line, lineIndex) => {
  const { rule, steps } = JSON.parse(line);
  const algorithm = rule.algorithm;
  let current = rule;
  const begun = law.begin(ALGORITHMS.indexOf(algorithm), BigInt(rule.limit), BigInt(rule.period_us),
    burstOf(rule, algorithm));
  if (begun !== 0) throw new Error(`line ${lineIndex + 1}: the rule is refused (${begun})`);
  steps.forEach((step, stepIndex) => {
    if (step.set) {
      current = step.set;
      if (law.set(BigInt(current.limit), burstOf(current, algorithm)) !== 0) throw new Error('a changed rule is refused');
    }
    law.check(BigInt(step.t), step.cost);
    const wrong = Object.keys(members).filter((name) => members[name]() !== step[name]);
    if (law.limit() >>> 0 !== capacityOf(current, algorithm)) wrong.push('limit');
    if (wrong.length === 0) {
      passed++;
    } else {
      failed++;
      if (failed <= 20) console.log(`line ${lineIndex + 1} step ${stepIndex + 1}: ${wrong.join(', ')} differ`);
    }
  });
});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
