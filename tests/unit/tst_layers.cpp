// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLibraryInfo>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path root = WEIR_SOURCE_DIR;

bool isUnder(const std::string &path, std::string_view folder)
{
    return path == folder || path.starts_with(std::string(folder) + '/');
}

std::vector<std::string> linesOf(const fs::path &file)
{
    std::vector<std::string> lines;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// Files of the project below the given folders (or such files), relative to its root.
std::vector<std::string> filesBelow(const std::vector<std::string> &places, const std::regex &name)
{
    std::vector<std::string> files;
    const auto add = [&](const fs::path &file) {
        if (std::regex_search(file.filename().string(), name)) {
            files.push_back(fs::relative(file, root).generic_string());
        }
    };
    for (const std::string &place : places) {
        if (fs::is_regular_file(root / place)) {
            add(root / place);
        } else if (fs::is_directory(root / place)) {
            for (const auto &entry : fs::recursive_directory_iterator(root / place)) {
                if (entry.is_regular_file()) {
                    add(entry.path());
                }
            }
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> sourcesBelow(const std::vector<std::string> &places)
{
    return filesBelow(places, std::regex(R"(\.(h|cpp)$)"));
}

/// What a source includes, in `<>` or `""`.
std::vector<std::string> includesOf(const std::string &file)
{
    static const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    std::vector<std::string> includes;
    for (const std::string &line : linesOf(root / file)) {
        if (std::smatch match; std::regex_search(line, match, include)) {
            includes.push_back(match[1]);
        }
    }
    return includes;
}

/// "QtCore", "QtWidgets" ... of a Qt header; empty if it is none.
std::string qtModuleOf(const std::string &include)
{
    static const fs::path headers = QLibraryInfo::path(QLibraryInfo::HeadersPath).toStdString();
    static const std::regex qt(R"(^(Qt[A-Z][A-Za-z]*/.*|Q[A-Z][A-Za-z]*|q[a-z0-9]+\.h)$)");
    if (!std::regex_match(include, qt)) {
        return {};
    }
    if (const auto slash = include.find('/'); slash != std::string::npos) {
        return include.substr(0, slash);
    }
    for (const auto &module : fs::directory_iterator(headers)) {
        if (fs::exists(module.path() / include)) {
            return module.path().filename().string();
        }
    }
    return "unknown module";
}

/// The link graph as CMake wrote it: see cmake/WeirLayers.cmake.
class Links
{
public:
    Links()
    {
        for (const std::string &line : linesOf(WEIR_LAYERS_FILE)) {
            std::istringstream words(line);
            std::string folder;
            std::string target;
            words >> folder >> target;
            m_folders[target] = folder;
            for (std::string library; words >> library;) {
                m_links[target].insert(library);
            }
        }
    }

    /// Targets made in a folder itself, not below it.
    std::vector<std::string> targetsIn(const std::string &folder) const
    {
        std::vector<std::string> targets;
        for (const auto &[target, place] : m_folders) {
            if (place == folder) {
                targets.push_back(target);
            }
        }
        return targets;
    }

    /// All that a target links, directly or not, without itself (unless in a circle).
    std::set<std::string> reachedFrom(const std::string &target) const
    {
        std::set<std::string> reached;
        std::vector<std::string> open{target};
        while (!open.empty()) {
            const auto links = m_links.find(open.back());
            open.pop_back();
            if (links == m_links.end()) {
                continue;
            }
            for (const std::string &library : links->second) {
                if (reached.insert(library).second) {
                    open.push_back(library);
                }
            }
        }
        return reached;
    }

    std::string folderOf(const std::string &target) const
    {
        const auto folder = m_folders.find(target);
        return folder == m_folders.end() ? std::string() : folder->second;
    }

private:
    std::map<std::string, std::string> m_folders;
    std::map<std::string, std::set<std::string>> m_links;
};

/// The layer folders: app, widgets and each sub-folder of models.
std::vector<std::string> layerFolders()
{
    std::vector<std::string> folders{"app", "widgets"};
    for (const auto &entry : fs::directory_iterator(root / "models")) {
        if (entry.is_directory()) {
            folders.push_back("models/" + entry.path().filename().string());
        }
    }
    std::ranges::sort(folders);
    return folders;
}

/// The complaints of a check, one a line.
std::string joined(const std::vector<std::string> &complaints)
{
    std::string text;
    for (const std::string &complaint : complaints) {
        text += '\n' + complaint;
    }
    return text;
}

} // namespace

/// Dependencies point one way: app, widgets, models; and among the folders of models as their CMake
/// targets are linked. Nothing below `models/items` knows Qt.
class TestLayers : public QObject
{
    Q_OBJECT

private slots:
    void modelsKnowNoQt();
    void itemsKnowCoreAndGuiOnly();
    void targetsLinkDownwards();
    void includesFollowLinks_data();
    void includesFollowLinks();
    void headersAreGuarded();
    void filesNameTheirLicence();
};

void TestLayers::modelsKnowNoQt()
{
    std::vector<std::string> complaints;
    for (const std::string &file : sourcesBelow({"models"})) {
        if (isUnder(file, "models/items")) {
            continue;
        }
        for (const std::string &include : includesOf(file)) {
            if (!qtModuleOf(include).empty()) {
                complaints.push_back(file + " includes " + include);
            }
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

void TestLayers::itemsKnowCoreAndGuiOnly()
{
    std::vector<std::string> complaints;
    for (const std::string &file : sourcesBelow({"models/items"})) {
        for (const std::string &include : includesOf(file)) {
            const std::string module = qtModuleOf(include);
            if (!module.empty() && module != "QtCore" && module != "QtGui") {
                complaints.push_back(file + " includes " + include + " of " + module);
            }
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

void TestLayers::targetsLinkDownwards()
{
    const Links links;
    std::vector<std::string> complaints;
    for (const std::string &folder : layerFolders()) {
        for (const std::string &target : links.targetsIn(folder)) {
            const std::set<std::string> reached = links.reachedFrom(target);
            if (reached.contains(target)) {
                complaints.push_back(target + " links itself through others");
            }
            for (const std::string &library : reached) {
                const std::string to = links.folderOf(library);
                const bool upwards =
                    (folder != "app" && to == "app") || (isUnder(folder, "models") && to == "widgets");
                const bool qt = library.starts_with("Qt6::") || library.starts_with("QCustomPlot");
                const bool mayUseQt = !isUnder(folder, "models") || folder == "models/items";
                const bool foreignQt =
                    folder == "models/items" && library != "Qt6::Core" && library != "Qt6::Gui";
                if (upwards || (qt && (!mayUseQt || foreignQt))) {
                    complaints.push_back(target + " links " + library);
                }
            }
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

void TestLayers::includesFollowLinks_data()
{
    QTest::addColumn<QString>("folder");
    for (const std::string &folder : layerFolders()) {
        QTest::newRow(folder.c_str()) << QString::fromStdString(folder);
    }
}

void TestLayers::includesFollowLinks()
{
    QFETCH(QString, folder);
    const std::string layer = folder.toStdString();
    const std::vector<std::string> files = sourcesBelow({layer});
    if (files.empty()) {
        QSKIP("no sources yet");
    }
    const Links links;
    const std::vector<std::string> targets = links.targetsIn(layer);
    if (targets.empty()) {
#ifdef WEIR_WITH_GUI
        QFAIL("sources, but no CMake target");
#else
        QSKIP("not part of a build without the window");
#endif
    }
    std::set<std::string> allowed{layer};
    for (const std::string &target : targets) {
        for (const std::string &library : links.reachedFrom(target)) {
            allowed.insert(links.folderOf(library));
        }
    }

    static const std::regex ofProject(R"(^(app|widgets|models/[^/]+)/[^/]+$)");
    std::vector<std::string> complaints;
    for (const std::string &file : files) {
        for (const std::string &include : includesOf(file)) {
            std::smatch match;
            if (include.starts_with("..")) {
                complaints.push_back(file + " includes " + include + ": name it from the project's root");
            } else if (std::regex_match(include, match, ofProject) && !allowed.contains(match[1])) {
#ifndef WEIR_WITH_GUI
                // What belongs to the window has no target to link in this build.
                if (links.targetsIn(match[1]).empty())
                    continue;
#endif
                complaints.push_back(file + " includes " + include + ", which its target does not link");
            }
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

void TestLayers::headersAreGuarded()
{
    std::vector<std::string> complaints;
    for (const std::string &file :
         filesBelow({"app", "models", "tests", "tools", "widgets"}, std::regex(R"(\.h$)"))) {
        const auto lines = linesOf(root / file);
        if (std::ranges::find(lines, "#pragma once") == lines.end()) {
            complaints.push_back(file + " has no #pragma once");
        }
        // It takes seconds to compile, so sources include it and headers declare QCustomPlot.
        if (std::ranges::count(includesOf(file), "qcustomplot.h") > 0) {
            complaints.push_back(file + " includes qcustomplot.h");
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

void TestLayers::filesNameTheirLicence()
{
    const std::vector<std::string> places{"CMakeLists.txt", "run",   "test",      ".ci",   "app",    "cmake",
                                          "models",         "tests", "packaging", "tools", "widgets"};
    const std::regex sources(R"(\.(h|cpp|cmake|sh|py|desktop|metainfo\.xml)$|^CMakeLists\.txt$|^[a-z-]+$)");
    std::vector<std::string> complaints;
    for (const std::string &file : filesBelow(places, sources)) {
        if (file.starts_with("tests/fuzz/corpus/"))
            continue; // inputs, made by a script that names it
        auto lines = linesOf(root / file);
        lines.resize(std::min<std::size_t>(lines.size(), 4));
        const bool named = std::ranges::any_of(lines, [](const std::string &line) {
            return line.find("SPDX-License-Identifier: ") != std::string::npos;
        });
        if (!named) {
            complaints.push_back(file);
        }
    }
    QVERIFY2(complaints.empty(), joined(complaints).c_str());
}

QTEST_GUILESS_MAIN(TestLayers)
#include "tst_layers.moc"
