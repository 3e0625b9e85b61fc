#include "app/commands/attend.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/attend_options.h"
#include "app/audit_result.h"
#include "app/audit_verdict.h"
#include "app/drawing/sheet.h"
#include "app/drawing/write_picture.h"
#include "app/interrupt.h"
#include "app/map_file.h"
#include "app/map_maker.h"
#include "app/map_pictures.h"
#include "app/map_result.h"
#include "app/options.h"
#include "app/output.h"
#include "app/photo_audit.h"
#include "app/picture_files.h"
#include "app/progress.h"
#include "app/report_page.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/explain/answers.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

/// Photos after each other, each written before the next is opened.
class Attend {
 public:
  Attend(const AttendOptions& options, const weights::Model& model, const MapWork& work)
      : options_(options),
        style_(map_style(options)),
        format_(output::parse_format(options.format)),
        font_(drawing::Font::find()),
        maker_(model, options.run, work, going_on()),
        model_(model) {
    if (options.audit.audit) {
      auditor_.emplace(model, work.probabilities, options.audit, options.run, options.maps.seed,
                       going_on());
    }
    if (!font_.present() && !options.run.quiet) output::warning(font_.warning());
  }

  int run(const std::vector<std::string>& photos, const std::vector<std::string>& files,
          int failed) {
    Progress progress(photos.size(), options_.run.quiet);
    for (std::size_t i = 0; i < photos.size() && !interrupt_.requested(); ++i) {
      try {
        one(photos[i], files[i], progress);
      } catch (const InputError& error) {
        progress.clear();
        output::error(error.what());
        ++failed;
      } catch (const MapMaker::Stopped&) {
        break;
      }
      progress.show(i + 1);
    }
    progress.clear();
    if (!contact_.panels.empty()) {
      drawing::write_picture(options_.contact_sheet, drawing::draw(contact_, font_),
                             options_.force);
    }
    if (audits_.size() > 1 || (!options_.audit.data.empty() && !audits_.empty()))
      print_population();
    if (interrupt_.requested()) return 130;
    return failed > 0 ? 1 : 0;
  }

 private:
  void one(const std::string& path, const std::string& file, Progress& progress) {
    const ExplainedPhoto photo = maker_.explain(path, decode_options(options_.photos));
    std::optional<PhotoAuditResult> audit;
    if (auditor_) audit = auditor_->audit(photo);
    steps_.reset();
    if (!file.empty()) {
      drawing::write_picture(file, draw_maps(photo, style_, font_), options_.force);
    }
    if (!options_.html.empty()) write_page(photo, audit);
    if (!options_.save_map.empty()) save_map(photo);
    if (!options_.contact_sheet.empty()) add_to_contact_sheet(photo);
    progress.clear();
    if (!photo.picture.warning.empty() && !options_.run.quiet) {
      output::warning(path + ": " + photo.picture.warning);
    }
    if (options_.audit.data.empty()) print(photo, file.empty() ? options_.html : file, audit);
    if (audit) audits_.push_back(std::move(audit->figures));
  }

  std::vector<std::string> words(const AuditFigures& audit) const {
    return verdict(audit, options_.audit.random_maps);
  }

  void print(const ExplainedPhoto& photo, const std::string& file,
             const std::optional<PhotoAuditResult>& audit) const {
    if (format_ != output::Format::json) {
      output::print(photo_lines(photo, file) +
                    (audit ? audit_text(audit->figures, words(audit->figures)) : ""));
      return;
    }
    nlohmann::ordered_json json = photo_json(photo, file);
    if (audit) json["audit"] = audit_json(*audit, words(audit->figures));
    output::print(output::json_line(json));
  }

  /// What all photos show together.
  void print_population() const {
    const AuditFigures all = mean_audit(audits_);
    if (format_ == output::Format::json) {
      output::print(output::json_line({{"population", audit_json(all, words(all))}}));
    } else {
      output::print(fmt::format("{} photos, means\n", all.photos) + audit_text(all, words(all)));
    }
  }

  void write_page(const ExplainedPhoto& photo, const std::optional<PhotoAuditResult>& audit) const {
    report::Report page = page_of(photo, model_);
    if (audit) {
      page.audit = audit_rows(audit->figures);
      page.verdict = fmt::format("{}", fmt::join(words(audit->figures), " "));
    }
    report::write_html(options_.html, page, options_.force);
  }

  void save_map(const ExplainedPhoto& photo) const {
    const PhotoMap& one = photo.maps.front();
    SavedMap saved{
        photo.picture.path, model_.name,         one.request.name(), one.map.layer, "", {}, "",
        photo.view,         one.map.values.cpu()};
    if (one.map.layer)
      saved.heads = one.map.head ? std::to_string(*one.map.head) : options_.maps.head;
    if (one.of_class) {
      saved.class_index = one.of_class->index;
      saved.class_label = one.of_class->label;
    }
    write_map(options_.save_map, saved, options_.force);
  }

  /// Small pictures: a folder of photos must fit into memory.
  void add_to_contact_sheet(const ExplainedPhoto& photo) {
    constexpr int kPanel = 320;
    MapStyle style = style_;
    style.caption = false;
    style.overlay.width = std::min(kPanel, photo.picture.size.width);
    const std::string name = fs::path(photo.picture.path).filename().string();
    const std::string prediction = prediction_text(photo);
    contact_.panels.push_back(
        {prediction.empty() ? name : name + ": " + prediction, draw_maps(photo, style, font_)});
  }

  MapMaker::GoOn going_on() {
    return [this](const std::string& what, std::int64_t done, std::int64_t all) {
      return go_on(what, done, all);
    };
  }

  bool go_on(const std::string& what, std::int64_t done, std::int64_t all) {
    if (!steps_ || what != stepping_) {
      stepping_ = what;
      steps_.emplace(static_cast<std::size_t>(all), options_.run.quiet);
    }
    steps_->show(static_cast<std::size_t>(done));
    if (done == all) steps_.reset();
    return !interrupt_.requested();
  }

  const AttendOptions& options_;
  MapStyle style_;
  output::Format format_;
  drawing::Font font_;
  const Interrupt interrupt_;
  MapMaker maker_;
  std::optional<PhotoAuditor> auditor_;
  std::vector<AuditFigures> audits_;
  const weights::Model& model_;
  drawing::Sheet contact_;
  std::optional<Progress> steps_;  ///< of a method that takes many passes
  std::string stepping_;
};

/// The photos that are named, and those of --data.
PhotoOptions inputs(const AttendOptions& options) {
  PhotoOptions photos = options.photos;
  if (options.audit.data.empty()) return photos;
  photos.inputs.push_back(options.audit.data);
  photos.recursive = true;
  return photos;
}

/// Of a network that is asked about many altered pictures; its packed weights serve maps and audit.
explain::Scores probabilities(const AttendOptions& options, const weights::Model& model,
                              const std::vector<MapRequest>& requests) {
  const explain::AuditParts parts = audit_options(options.audit, options.maps.seed).parts;
  const bool audits = options.audit.audit && (parts.faithfulness || parts.weights);
  const bool probes = std::ranges::any_of(
      requests, [](const MapRequest& one) { return one.method->probe != nullptr; });
  if (model.network.config().classes == 0 || !(audits || probes)) return {};
  return explain::probabilities_of(model.network, kernels::parse_backend(options.run.attention));
}

/// What is made of each photo.
MapWork map_work(const AttendOptions& options, const weights::Model& model,
                 std::vector<MapRequest> requests) {
  MapWork work;
  if (model.network.config().classes > 0)
    work.classes = parse_class(options.of_class, model.labels);
  if (!options.from.empty()) work.point = parse_pair(options.from);
  work.keep_layers = !options.html.empty();
  work.apart = options.audit.audit;
  work.probabilities = probabilities(options, model, requests);
  work.requests = std::move(requests);
  return work;
}

int attend(const AttendOptions& options) {
  check_options(options);
  int failed = 0;
  const std::vector<std::string> photos = find_photos(inputs(options), failed);
  const std::vector<std::string> files =
      picture_files(photos, {"--output", options.output, options.force});
  // Gradients, and audits that shuffle weights, need plain ones.
  const bool plain = options.audit.audit || needs_gradients(options.maps);
  const weights::Model model =
      open_model(options.model, options.run, /*pack=*/!plain && photos.size() >= kPackFrom);
  require_specification(model);
  std::vector<MapRequest> requests = map_requests(options.maps, model.network.config());
  check_counts(options, photos.size(), requests.size());
  const MapWork work = map_work(options, model, std::move(requests));
  if (!options.output.empty() && !names_a_picture(options.output))
    fs::create_directories(options.output);
  return Attend(options, model, work).run(photos, files, failed);
}

}  // namespace

std::function<int()> declare_attend(CLI::App& command) {
  const auto options = std::make_shared<AttendOptions>();
  add_attend_options(command, *options);
  return [options] { return attend(*options); };
}

}  // namespace vitascope::app
