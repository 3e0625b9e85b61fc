#include "app/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <stdexcept>

#include "app/command.h"
#include "app/commands/attend.h"
#include "app/commands/benchmark.h"
#include "app/commands/benchmark_attention.h"
#include "app/commands/caption.h"
#include "app/commands/check_data.h"
#include "app/commands/classify.h"
#include "app/commands/convert.h"
#include "app/commands/embed.h"
#include "app/commands/evaluate.h"
#include "app/commands/finetune.h"
#include "app/commands/info.h"
#include "app/commands/make_scenes.h"
#include "app/commands/merge_results.h"
#include "app/commands/score_captions.h"
#include "app/commands/train_captioner.h"
#include "app/commands/verify.h"
#include "app/completion.h"
#include "app/help.h"
#include "app/output.h"
#include "app/values.h"
#include "kernels/cpu/isa.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr Command kCommands[] = {
    {"classify", "Say what photos show", declare_classify},
    {"attend", "Show where the model looked, over the photo", declare_attend},
    {"embed", "Turn photos into vectors", declare_embed},
    {"evaluate", "Say how good a model is on labelled photos", declare_evaluate},
    {"merge-results", "Join what several processes wrote of one list of photos",
     declare_merge_results},
    {"check-data", "Find broken, tiny and repeated pictures in a data set", declare_check_data},
    {"finetune", "Teach a model the classes of your own photos", declare_finetune},
    {"score-captions", "Score captions: BLEU, ROUGE-L, CIDEr-D", declare_score_captions},
    {"caption", "Say in words what photos show, and where each word looked", declare_caption},
    {"train-captioner", "Teach a captioner your own photos and captions", declare_train_captioner},
    {"make-scenes", "Draw scenes of coloured shapes with captions", declare_make_scenes},
    {"info", "Say what a model is, or what this program and machine can do", declare_info},
    {"verify", "Compare a model with what Python gave, layer by layer", declare_verify},
    {"benchmark", "Measure how quick a model is here", declare_benchmark},
    {"benchmark-attention", "Measure the attention kernels beside LibTorch's",
     declare_benchmark_attention},
    {"convert", "Write a model as a transformers or timm folder", declare_convert},
};

constexpr const char* kExample = R"help(Examples:
  vitascope classify photo.jpg --model build/models/everyday
  vitascope classify --help
Completion for bash: eval "$(vitascope --completion bash)")help";

/// The command that was named, or null.
DeclaredCommand* chosen(Program& program) {
  for (DeclaredCommand& command : program.commands) {
    if (command.app->parsed()) return &command;
  }
  return nullptr;
}

std::string nearest_text(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

/// What to say of an argument that the command, or the program itself, does not know.
std::string unknown_argument(const std::string& argument, const CLI::App& app, bool is_command) {
  const std::string help =
      is_command ? "vitascope " + app.get_name() + " --help" : "vitascope --help";
  if (!argument.starts_with("-")) {
    if (is_command)
      return fmt::format("{} is one argument too many; see '{}'", in_quotes(argument), help);
    std::vector<std::string> names;
    for (const Command& command : kCommands) names.emplace_back(command.name);
    return fmt::format("unknown command {}{} (commands: {})", in_quotes(argument),
                       nearest_text(argument, names), fmt::join(names, ", "));
  }
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  return fmt::format("unknown option {}{} ('{}' lists all)", in_quotes(name),
                     nearest_text(name, names), help);
}

/// CLI11's error as one sentence of ours.
std::string parse_error(const CLI::ParseError& error, Program& program) {
  DeclaredCommand* command = chosen(program);
  const CLI::App& app = command == nullptr ? program.app : *command->app;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> unknown =
        program.app.remaining().empty() ? app.remaining() : program.app.remaining();
    if (!unknown.empty()) {
      const bool of_command = command != nullptr && program.app.remaining().empty();
      return unknown_argument(unknown.front(), of_command ? app : program.app, of_command);
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const std::string_view text = error.what();
    const bool mentioned = text.starts_with(name + ":") || text.find(" " + name + " ") != text.npos;
    if (!mentioned || name.empty()) continue;
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      return is_flag(*option) ? fmt::format("{} takes no value", name)
                              : fmt::format("{} needs a value ({})", name, option->get_type_name());
    }
    return fmt::format("{}: {}", name, value_error(error, *option));
  }
  return error.what();
}

int run_command(DeclaredCommand& command) {
  const Sources sources = apply_recipe(*command.app, *command.recipe);
  if (!command.recipe->print_config) return command.body();
  output::print(config_text(*command.app, sources));
  return 0;
}

}  // namespace

Program::Program() : app("Vitascope: vision transformers in one native program", "vitascope") {
  app.formatter(std::make_shared<Help>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "vitascope " VITASCOPE_VERSION, "print the version");
  app.footer(kExample);
  app.add_option("--completion", completion, "print a completion script")
      ->type_name("bash")
      ->check(one_of({"bash"}));
  // The last one of an option given twice wins, so that an alias can carry defaults.
  app.option_defaults()->always_capture_default()->multi_option_policy(
      CLI::MultiOptionPolicy::TakeLast);
  for (const Command& command : kCommands) {
    DeclaredCommand declared;
    declared.app = app.add_subcommand(command.name, command.summary);
    declared.recipe = std::make_unique<RecipeOptions>();
    declared.body = command.declare(*declared.app);
    add_recipe_options(*declared.app, *declared.recipe);
    commands.push_back(std::move(declared));
  }
}

int run(int argc, const char* const* argv) {
  try {
    kernels::cpu::limit_libraries();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  Program program;
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    output::print(program.app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    output::print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError(parse_error(error, program));
  }
  if (!program.completion.empty()) {
    output::print(bash_completion(program.app));
    return 0;
  }
  DeclaredCommand* command = chosen(program);
  if (command == nullptr) throw UsageError("no command is given; 'vitascope --help' lists them");
  return run_command(*command);
}

}  // namespace vitascope::app
