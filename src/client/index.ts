// The package's entry `tabserve`. Importing it has no effect, not even on a server.
export {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  InvalidOptionError,
  ItemTooLargeError,
  KvBudgetError,
  ModelRunError,
  RequestCancelledError,
  RequestTimeoutError,
  ResponseFormatUnsupportedError,
  StopConditionError,
  UnknownOptionError,
  type BackPressureDetails,
} from '../batching/base/errors.ts';
export type { Optional } from '../batching/base/records.ts';
export type { AnyDeployment, DeploymentTypes } from '../protocol/deployment.ts';
export { allowOwnScripts } from '../platform/own-scripts.ts';
export { cosineSimilarity, topK, type Nearest } from './vectors.ts';
export * from '../protocol/errors/deployments.ts';
export * from '../protocol/errors/hub.ts';
export * from '../protocol/errors/jobs.ts';
export * from '../protocol/errors/model.ts';
export { OnnxModelError } from '../protocol/errors/onnx.ts';
export { GpuWrongValuesError, NoWebGpuAdapterError } from '../protocol/errors/runtime.ts';
export * from '../protocol/errors/tabs.ts';
export { ServerError, type ServerErrorCode } from '../protocol/errors/server.ts';
export * from '../protocol/errors/worker.ts';
export type { Answer, AnswerPart, ToolCall } from '../protocol/answers.ts';
export type { ChatMessage, Prompt, TextPart, TokenizeChatOptions } from '../protocol/chat.ts';
export {
  EMBEDDER,
  MAX_TEXTS,
  RERANKER,
  type Embedding,
  type EmbeddingOptions,
  type EmbeddingText,
  type Ranking,
  type RerankInput,
  type RerankOptions,
} from '../protocol/embedding.ts';
export {
  TEXT_GENERATOR,
  type FinishReason,
  type GenerationChoice,
  type GenerationOptions,
  type GenerationResult,
  type GenerationTool,
  type ChoiceFormat,
  type GrammarFormat,
  type JsonObjectFormat,
  type JsonSchema,
  type BegunFormat,
  type JsonSchemaFormat,
  type PromptTokenLogprobs,
  type RequestTimings,
  type RegexFormat,
  type ResponseFormat,
  type StructuralPart,
  type StructuralTag,
  type StructuralTagFormat,
  type TokenLogprob,
  type TokenLogprobs,
  type ToolChoice,
} from '../protocol/generation.ts';
export * from '../protocol/generation-options.ts';
export { connectionsTo } from './links/server/gate.ts';
export { bridgeOfPage } from './page-settings.ts';
export { ROWS_AT_SERVER } from '../jobs/row-rules.ts';
export type { FoundModel } from '../protocol/found-model.ts';
export type { GgufFile } from '../protocol/gguf-file.ts';
export type { ClientId, RequestId } from '../protocol/ids.ts';
export { columnsIn, fillTemplate, missingColumn } from '../protocol/job-template.ts';
export { readCells, textOfCell, writeCells, type JobCells } from '../protocol/job-cells.ts';
export type { JobCounts, JobInfo, JobProgress, JobResult, JobState, JobTotals } from '../protocol/jobs.ts';
export { BACKEND_CHOICES, type BackendChoice, type Rung } from '../protocol/ladder.ts';
export type {
  BackendInfo,
  Detokenization,
  Dtype,
  DtypeChoice,
  EncoderInfo,
  LoadFailure,
  LoadProgress,
  ModelInfo,
  ModelLoad,
  PrecisionPlan,
  ServedModel,
  StoredModel,
  SuggestedModel,
  Tokenization,
  WhenBusy,
} from '../protocol/models.ts';
export type { FaultKind, Recovery } from '../protocol/recovery.ts';
export {
  END_TYPES,
  type Caller,
  type RequestActivity,
  type RequestTurn,
  type RequestUpdate,
} from '../protocol/requests.ts';
export {
  percentilesOf,
  type BatchRecord,
  type LatencySummary,
  type Percentiles,
  type TabserveStats,
  type SlotSpan,
  type StepBatch,
  type StepRecord,
} from '../protocol/stats.ts';
export {
  DEFAULT_POLICY,
  type BatchingPolicy,
  type BatchKnobs,
  type DeploymentInfo,
  type OpenTab,
  type PolicyName,
  type TabserveState,
  type TabserveStatus,
  type TabRole,
} from '../protocol/status.ts';
export { TabserveError } from '../protocol/wire-errors.ts';
export type { WireError } from '../protocol/wire.ts';
export type { LoggedRequest, LogSlice, WorkerLog } from '../protocol/worker-log.ts';
export type {
  CheckedBackend,
  CheckedRate,
  CheckLine,
  CheckName,
  CheckOptions,
  CheckOutcome,
  CheckReport,
} from './check/types.ts';
export { connect, TabserveClient, type ConnectOptions, type ServerOptions } from './client.ts';
export type { DeploymentResponse, GenerationChunk, GenerationResponse, ResultOptions } from './responses.ts';
export type {
  DeploymentHandle,
  DeploymentMap,
  Handle,
  RequestOptions,
  EmbedderHandle,
  RerankerHandle,
  TextGeneratorHandle,
} from './handles.ts';
export type {
  CommonJobOptions,
  CreateJobOptions,
  CsvOptions,
  EmbedJobOptions,
  Job,
  JobRecord,
  JobRequest,
  JobRow,
  Jobs,
  JobSource,
  ReadRowsOptions,
  RequestJobOptions,
  RowResult,
  RowsPage,
  TextJobOptions,
} from './jobs/types.ts';
export type { LoadModelOptions, ModelReference, PlanModelOptions, SourceOptions } from './model-source.ts';
export type { KnobOverride, PolicyOverride } from './knob-override.ts';
export type { Activity, ClientUpdate, TopicListener, TopicValues } from './topics.ts';
